import { dayIn } from '../tables/days.ts';
import { propertyFinder } from './agency-table.ts';

export interface Vintage {
  see(value: unknown): void;
  /** '' when no row has an age. */
  text(): string;
}

/** Columns with the age of a row: its year, its month (202108), or a day. */
export interface VintageColumns {
  readonly names: readonly string[];
  readonly as: 'year' | 'month' | 'day';
}

/** Collects the vintage from the files' own columns; `see` gets the properties of each row. */
export function vintageByColumns(columns: VintageColumns | undefined): Vintage {
  if (columns === undefined) return { see: () => {}, text: () => '' };
  const { names, as } = columns;
  const find = propertyFinder(names);
  const { see, text } = { year: yearSpan, month: newestMonth, day: newestDay }[as]();
  return {
    see(properties) {
      const name = find(properties as Record<string, unknown>);
      if (name !== null) see((properties as Record<string, unknown>)[name]);
    },
    text,
  };
}

/** The span of the years seen: 2020, or 2005-2007. */
export function yearSpan(): Vintage {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  return {
    see(value) {
      const year = Number(value);
      if (!Number.isInteger(year) || year < 1800 || year > 2200) return;
      first = Math.min(first, year);
      last = Math.max(last, year);
    },
    text: () => (first > last ? '' : first === last ? String(first) : `${first}-${last}`),
  };
}

const newestMonth = () =>
  newest((value) => {
    const [, year, month] =
      /^((?:19|20)\d\d)(0[1-9]|1[0-2])(?:\.0+)?$/.exec(String(value).trim()) ?? [];
    return year === undefined ? '' : `${year}-${month}`;
  });

const newestDay = () =>
  newest((value) => {
    const day = dayIn(value);
    return day === '' ? '' : `to ${day}`;
  });

/** The newest of some texts. @param read returns texts that sort by time; '' for none */
export function newest(read: (value: unknown) => string): Vintage {
  let last = '';
  return {
    see(value) {
      const text = read(value);
      if (text > last) last = text;
    },
    text: () => last,
  };
}
