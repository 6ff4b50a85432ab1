import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DatasetInfo, StreamedDataset } from '../tables/records.ts';
import type { FileFeature } from './geojson-features.ts';
import { unreadable } from './load-errors.ts';
import type { LoadReporter } from './load-report.ts';
import { zipPath } from './text-blocks.ts';

/** What the user can say about the files. */
export interface LoaderOptions {
  /** The coordinate columns, when their names are not recognized. */
  readonly lat?: string;
  readonly lng?: string;
  /** The second file of an `airnow` load: the locations of the monitors. */
  readonly sites?: string;
  /** Replaces the loader's own description. */
  readonly source?: string;
  readonly vintage?: string;
  readonly licence?: string;
  /** The states to load, as two letters, or `US` for the whole; left out to derive them from the rows. */
  readonly states?: readonly string[] | 'US';
  /** Load files that do not look like the loader's. */
  readonly force?: boolean;
  /** Replace the dataset even if that loses rows. */
  readonly replace?: boolean;
}

/** Turns the files of an agency into a dataset; the report gets what becomes of each row. */
export type StartLoad = (files: readonly string[], options: LoaderOptions, report: LoadReporter) => StreamedDataset;

/** How an agency's file is loaded. */
export interface Loader {
  /** The publisher and the name of the download. */
  readonly describe: string;
  readonly start: StartLoad;
}

/** The source of the data, and the attribution that its publisher requires. */
export interface Publication {
  readonly source: string;
  readonly licence: string;
}

/**
 * Works of US agencies are in the public domain (17 USC 105) and need no attribution, so this only names the source.
 */
export function publicDomain(agency: string): string {
  return `${agency}: a work of the US government, in the public domain.`;
}

/**
 * The description of a dataset; its vintage may be known only after the last row.
 *
 * @param vintage from the rows; '' for the day on which the file was last changed
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
    source: options.source ?? source,
    files: options.source === undefined ? files.map((file) => basename(file)) : [],
    get vintage() {
      return options.vintage ?? (vintage() || `file of ${dayOf(files.at(-1)!)}`);
    },
    licence: options.licence ?? licence,
    sample: false,
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

/** All records of some files, one file after the other. */
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

/** How features become records. */
export interface FeatureUse<T> {
  readonly featuresOf: (file: string) => Iterable<FileFeature> | AsyncIterable<FileFeature>;
  /** The record of a feature; null when it was rejected, `later` when it becomes part of a record of `atEnd`. */
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
