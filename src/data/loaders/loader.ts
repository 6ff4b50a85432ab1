import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DatasetInfo, StreamedDataset } from '../tables/records.ts';
import type { FileFeature } from './geojson-features.ts';
import { unreadable } from './load-errors.ts';
import type { LoadReporter } from './load-report.ts';
import { zipPath } from './text-blocks.ts';

/** What a user may say of the files. */
export interface LoaderOptions {
  /** The columns of the coordinates, where they are not found by their names. */
  readonly lat?: string;
  readonly lng?: string;
  /** The second file of an `airnow` load: where the monitors stand. */
  readonly sites?: string;
  /** What is said of the data set, in place of what the loader says. */
  readonly source?: string;
  readonly vintage?: string;
  readonly licence?: string;
  readonly sample?: boolean;
  /** The states that are taken from the files, as two letters, or `US` for the whole; left out to go by the rows. */
  readonly states?: readonly string[] | 'US';
  /** Load files that are not known as the loader's. */
  readonly force?: boolean;
  /** Replace the data set even where it loses rows by it. */
  readonly replace?: boolean;
  /** Replace tracts and counties together, and not only the level that the files are of. */
  readonly allLevels?: boolean;
}

/** Files of one agency, made a delivery; what becomes of each row is told to the report. */
export type StartLoad = (files: readonly string[], options: LoaderOptions, report: LoadReporter) => StreamedDataset;

/** How an agency's file comes into the database. */
export interface Loader {
  /** The publisher and the name of the download. */
  readonly describe: string;
  readonly start: StartLoad;
}

/** Where the data come from, and the sentence that the publisher asks for. */
export interface Publication {
  readonly source: string;
  readonly licence: string;
}

/** The works of US agencies are in the public domain (17 USC 105); they ask for no sentence, so one says where it is from. */
export function publicDomain(agency: string): string {
  return `${agency}: a work of the US government, in the public domain.`;
}

/**
 * The description of a data set, whose vintage may be known only when all rows have been read.
 *
 * @param vintage what the rows say; '' for the day on which the file was last changed
 */
export function describeLoad(
  name: DatasetInfo['name'],
  files: readonly string[],
  options: LoaderOptions,
  { source, licence }: Publication,
  vintage: () => string,
): DatasetInfo {
  return {
    name,
    source: options.source ?? `${source} (${files.map((file) => basename(file)).join(', ')})`,
    get vintage() {
      return options.vintage ?? (vintage() || `file of ${dayOf(files.at(-1)!)}`);
    },
    licence: options.licence ?? licence,
    sample: options.sample ?? false,
  };
}

function dayOf(file: string): string {
  try {
    return statSync(zipPath(file)?.archive ?? file)
      .mtime.toISOString()
      .slice(0, 10);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** All records of some files, file by file. */
export function* inTurn<T>(
  files: readonly string[],
  report: LoadReporter,
  records: (file: string) => Iterable<T>,
): Generator<T> {
  for (const file of files) {
    report.openFile(basename(file));
    yield* records(file);
  }
}

/** What becomes of the features of some files. */
export interface FeatureUse<T> {
  readonly featuresOf: (file: string) => Iterable<FileFeature> | AsyncIterable<FileFeature>;
  /** The record of a feature; null when it was rejected, `later` when it goes into a record that comes at the end. */
  readonly recordOf: (feature: FileFeature) => T | null | 'later';
  /** The records that need all features to be read. */
  readonly atEnd?: () => Iterable<T>;
  /** What `atEnd` reads from; disposed of when no more records are wanted. */
  readonly buffer?: Disposable;
}

/** All records of some files; asynchronous when one of them is a shapefile. */
export function inFeatureFiles<T>(
  files: readonly string[],
  report: LoadReporter,
  { featuresOf, recordOf, atEnd = () => [], buffer }: FeatureUse<T>,
): Iterable<T> | AsyncIterable<T> {
  function* recordsOf(feature: FileFeature): Generator<T> {
    const record = recordOf(feature);
    if (record === null) return;
    report.load();
    if (record !== 'later') yield record;
  }
  function* read(): Generator<T> {
    using _ = buffer;
    for (const file of files) {
      report.openFile(basename(file));
      for (const feature of featuresOf(file) as Iterable<FileFeature>) yield* recordsOf(feature);
    }
    yield* atEnd();
  }
  async function* readAsync(): AsyncGenerator<T> {
    using _ = buffer;
    for (const file of files) {
      report.openFile(basename(file));
      for await (const feature of featuresOf(file)) yield* recordsOf(feature);
    }
    yield* atEnd();
  }
  return files.some((file) => /\.(shp|zip)$/i.test(file)) ? readAsync() : read();
}
