import { addedColumns, LEADING_COLUMNS, wantedColumns } from '../../columns/row.ts';
import { RATINGS } from '../../contract/topic-values.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { labelColumns, labelOf } from '../../report/location-labels.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { Row, RowFile } from '../../rows/port.ts';
import { currencyOf } from '../../run/scan/currency.ts';
import { FIRST_VALUE, layoutOf } from '../../run/scan/layout.ts';
import { valueIfAny } from '../../run/scan/scanned-rows.ts';
import type { Job } from '../../run/settings/settings.ts';

/** The ratings from the highest to the lowest; others (`No Rating`) have no order. */
export const ORDERED_RATINGS: readonly string[] = RATINGS.slice(0, 5).toReversed();

export interface Peril {
  readonly slug: TopicSlug;
  readonly title: string;
}

/** A row of an output, as far as the page shows it. */
export interface OutputRow {
  readonly number: number;
  readonly id: string;
  /** Its name or address; its coordinates where the file has neither. */
  readonly place: string;
  /** Null where no value column has a number. */
  readonly value: number | null;
  /** The currency code of the value; '' where the row names none. */
  readonly currency: string;
  readonly status: string;
  readonly note: string;
  /** The ratings of the perils of the table, in that order; '' for none. */
  readonly ratings: readonly string[];
  /** The fields by which the row is recognised in the input. */
  readonly identifying: readonly string[];
}

/** The output of a job, and where its columns are. */
export interface OutputTable {
  readonly perils: readonly Peril[];
  readonly hasId: boolean;
  readonly hasValue: boolean;
  /** The currency that the job names for all values, or null. */
  readonly currency: string | null;
  /** Streams all rows. */
  read(): AsyncIterable<readonly OutputRow[]>;
  /** Streams the user's own fields of all rows. */
  readOwn(): AsyncIterable<readonly Row[]>;
  /** The columns by which a row is recognised in the input: location and value. */
  readonly identifying: readonly number[];
}

/** Opens the output of a job. @throws INPUT_* where it is no output of this job */
export async function openOutput(output: string, job: Job): Promise<OutputTable> {
  const rowFile = await openRowFile(output, job.reading);
  const layout = layoutOf(rowFile, job);
  const added = addedColumns(job.topics, job.prefix, job.counts).map(({ name }) => name);
  const from = layout.dropFrom ?? rowFile.columns.length - added.length;
  const columnAt = columnFinder(rowFile, added, from, layout.dropFrom !== null);
  const own = rowFile.columns.slice(0, from);
  const { id, name } = labelColumns(own);
  const ratingAt = (slug: TopicSlug) => columnAt(job.prefix + wantedColumns(slug, job.counts)[0]!.name);
  const perils = job.topics.filter((slug) => topicOf(slug).category === 'natural' && ratingAt(slug) >= 0);
  const columns = [
    ...layout.columns,
    ...[0, 1].map((index) => columnAt(job.prefix + LEADING_COLUMNS[index]!.name)),
    ...perils.map(ratingAt),
    id ?? 0,
    name ?? 0,
  ];
  const identifying = layout.columns.slice(0, FIRST_VALUE + layout.values);
  const status = layout.columns.length;
  const labels = status + 2 + perils.length;

  function rowOf(row: Row): OutputRow {
    const { number, fields } = row;
    return {
      number,
      id: id === null ? '' : labelOf(fields[labels]),
      place: name === null ? `${fields[0] ?? ''}, ${fields[1] ?? ''}` : labelOf(fields[labels + 1]),
      value: valueIfAny(row, layout),
      currency: layout.currency === null ? '' : currencyOf(fields[layout.currency]),
      status: fields[status] ?? '',
      note: fields[status + 1] ?? '',
      ratings: fields.slice(status + 2, labels),
      identifying: fields.slice(0, identifying.length),
    };
  }

  return {
    perils: perils.map((slug) => ({ slug, title: topicOf(slug).title })),
    hasId: id !== null,
    hasValue: layout.values > 0,
    currency: job.currency,
    identifying,
    async *read() {
      for await (const batch of rowFile.read(columns, 0)) yield batch.map(rowOf);
    },
    readOwn: () => rowFile.read([...own.keys()], 0),
  };
}

/** Finds an added column by its name; in a file without a header line by its place. */
function columnFinder(rowFile: RowFile, added: readonly string[], from: number, hasNames: boolean) {
  return (name: string): number => (hasNames ? rowFile.columns.indexOf(name, from) : from + added.indexOf(name));
}

/** The peril of the highest rating, by its index; -1 where no peril is rated. */
export function worstPeril(ratings: readonly string[]): number {
  for (const rating of ORDERED_RATINGS) {
    const found = ratings.indexOf(rating);
    if (found >= 0) return found;
  }
  return -1;
}
