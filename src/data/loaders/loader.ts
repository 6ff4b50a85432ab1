import { basename } from 'node:path';
import type { Batches } from '../../formats/csv/parsed-records.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import type { VintageColumns } from './vintages.ts';

export interface LoaderOptions {
  /** The coordinate columns, when their names are not recognized. */
  readonly lat?: string;
  readonly lng?: string;
  /** The second file of an `airnow` load: the locations of the monitors. */
  readonly sites?: string | undefined;
  /** Replaces the loader's own description. */
  readonly source?: string;
  readonly vintage?: string | undefined;
  readonly licence?: string | undefined;
  /** The publisher's second address, named with the vintage. */
  readonly from?: string | undefined;
  /** The address of the map service with the same data, for the advice about files that cannot be read. */
  readonly address?: string;
  /** The territories that the publisher covers, also those of which it has no record. */
  readonly territories?: readonly string[];
  /** The states to load, as two letters, or `US` for the whole; left out to derive them from the rows. */
  readonly states?: readonly string[] | 'US';
  /** The files cover these boxes of their state alone. */
  readonly tiles?: { readonly state: string; readonly boxes: readonly Box[] };
  /** Load files that do not look like the loader's. */
  readonly force?: boolean;
  /** Replace the dataset even if that loses rows. */
  readonly replace?: boolean;
}

export type FileShape = 'points' | 'lines' | 'outlines';

type Rows = readonly (readonly string[])[];

export interface FileSignature {
  /** The file has a column with one of the names of each list. */
  readonly columns?: readonly (readonly string[])[];
  /** One column has such a name (normalized by `keyOf`); `of` describes the column. */
  readonly like?: {
    readonly of: string;
    readonly names: RegExp;
    /** Texts of the rows that tell it, too, if a third of the rows have such a text; or the name of the file. */
    readonly texts?: RegExp;
  };
  /** The geometries that it may have; it has at least one of them. */
  readonly shapes?: readonly FileShape[];
  /** A test of its first rows, when columns do not decide; `are` describes them. A header, where there is one, has these `columns`. */
  readonly rows?: {
    readonly are: string;
    readonly columns?: readonly string[];
    readonly test: (rows: Rows) => boolean;
  };
  /** The files of a zip that is read as a whole. */
  readonly zip?: readonly string[];
  /** Accepts what no other loader recognizes. */
  readonly anyOther?: true;
}

/** Tests whether some row begins with such a cell and has at least so many. */
export function rowsBegin(pattern: RegExp, fields: number): (rows: Rows) => boolean {
  return (rows) => rows.some((cells) => cells.length >= fields && pattern.test(cells[0]!.trim()));
}

export interface Loader {
  /** The publisher and the name of the download. */
  readonly describe: string;
  readonly source: string;
  /** The attribution that its publisher requires. */
  readonly licence: string;
  /** The dataset that it fills, and its level; '' for none or for either. */
  readonly loads: { readonly name: DatasetName; readonly level: Level };
  readonly signature: FileSignature;
  /** Its files are of the whole US, whatever states their rows are in: a description says what they cover. */
  readonly isOfUs?: true;
  /** What its description says of its files. */
  readonly options?: Pick<LoaderOptions, 'lat' | 'lng'>;
  /** The columns with the age of the rows, where there are some; without them the file's day counts. */
  readonly vintage?: VintageColumns;
  /** The vintage in a file's name, where the rows have none; '' if it has none either. */
  readonly vintageOfName?: (name: string) => string;
  read(
    files: readonly string[],
    options: LoaderOptions,
    report: LoadReporter,
  ): FileRecords | Promise<FileRecords>;
}

export interface FileRecords {
  readonly records: AsyncIterable<readonly object[]>;
  /** Called after the last record; '' for the day on which the last file was changed. */
  vintage(): string;
  /** The lines and outlines, and those of them without a geometry; counted after the last record. */
  readonly shapes?: Readonly<Record<'drawn' | 'lost', number>>;
  /** The level, if the files tell it. */
  readonly level?: Level;
}

/** Works of US agencies are in the public domain (17 USC 105) and need no attribution, so this only names the source. */
export function publicDomain(agency: string): string {
  return `${agency}: a work of the US government, in the public domain.`;
}

/** The records of some files, one file after the other. */
export async function* inTurn<T>(
  files: readonly string[],
  report: LoadReporter,
  records: (file: string) => AsyncIterable<readonly T[]>,
): Batches<T> {
  for (const file of files) {
    report.openFile(basename(file));
    yield* records(file);
  }
}

/** Files of many years and of one differ in the last digits: two decimals in place of four. */
const SAME_DEGREES = 0.011;

/** Tells whether an earlier file has a record: the same identity and positions. Call the outer function at the start of each file. */
export function earlierFiles(): () => (identity: string, positions?: readonly number[]) => boolean {
  const earlier = new Map<string, (readonly number[])[]>();
  let own: typeof earlier = new Map();
  const keep = (into: typeof earlier, identity: string, positions: readonly number[]) => {
    const known = into.get(identity);
    // Copied: a slice of a file's text would keep the whole block in memory.
    if (known === undefined) into.set(Buffer.from(identity).toString(), [positions]);
    else if (positions.length > 0) known.push(positions);
  };
  return () => {
    for (const [identity, all] of own)
      for (const positions of all) keep(earlier, identity, positions);
    own = new Map();
    return (identity, positions = []) => {
      keep(own, identity, positions);
      const isNear = (known: readonly number[]) =>
        known.every((degrees, index) => Math.abs(degrees - positions[index]!) < SAME_DEGREES);
      return earlier.get(identity)?.some(isNear) === true;
    };
  };
}

/** Rows that were not used, for one reason. */
export interface Rejection {
  /** Why they were not used. */
  readonly reason: string;
  /** How many rows. */
  readonly count: number;
  /** The file with the first of them. */
  readonly firstFile: string;
  /** Its line, from 1; the number of the feature in a file without lines. */
  readonly firstLine: number;
  /** What stands there. */
  readonly first: string;
}

export interface LoadReport {
  /** Rows that were read. */
  readonly rows: number;
  /** Rows that were used. */
  readonly loaded: number;
  /** Rows that were not used, by reason. */
  readonly rejected: readonly Rejection[];
  /** What else there is to say, in sentences. */
  readonly notes: readonly string[];
}

const SHOWN_CHARACTERS = 120;

export class LoadReporter {
  readonly #rejected = new Map<
    string,
    { count: number; firstFile: string; firstLine: number; first: string }
  >();
  readonly #notes = new Set<string>();
  readonly #files: string[] = [];
  #loaded = 0;
  #refused = 0;
  /** Files that are one page of several. */
  pages = 0;

  /** To be called for each file, before its rows. */
  openFile(file: string): void {
    this.#files.push(file);
  }

  get files(): number {
    return this.#files.length;
  }

  load(): void {
    this.#loaded += 1;
  }

  /** Counts a row. @param result its records, or why it has none */
  take<T>(result: readonly T[] | string, line: number, row: unknown): readonly T[] {
    if (typeof result === 'string') {
      this.reject(result, line, row);
      return [];
    }
    this.load();
    return result;
  }

  /** @param file the row's file, if it is not the one that was opened last */
  reject(
    reason: string,
    line: number,
    row: unknown,
    file: string = this.#files.at(-1) ?? '',
  ): void {
    this.#refused += 1;
    const rejection = this.#rejected.get(reason);
    if (rejection !== undefined) rejection.count += 1;
    else
      this.#rejected.set(reason, { count: 1, firstFile: file, firstLine: line, first: shown(row) });
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  /** The reasons are in the order of their first rows. */
  read(): LoadReport {
    const rejected = [...this.#rejected].map(([reason, entry]) => ({ reason, ...entry }));
    const fileOf = ({ firstFile }: Rejection) => this.#files.indexOf(firstFile);
    rejected.sort((a, b) => fileOf(a) - fileOf(b) || a.firstLine - b.firstLine);
    return {
      rows: this.#loaded + this.#refused,
      loaded: this.#loaded,
      rejected,
      notes: [...this.#notes],
    };
  }
}

function shown(row: unknown): string {
  const text = Array.isArray(row)
    ? row.join(',')
    : typeof row === 'string'
      ? row
      : JSON.stringify(row);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
