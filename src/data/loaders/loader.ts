import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DatasetInfo, DatasetName, Level, StreamedDataset } from '../tables/records.ts';
import { unreadable, zipPath } from './agency-file.ts';
import type { LoadReporter } from './load-report.ts';

/** The user's settings for the files. */
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
  /** The states to load, as two letters, or `US` for the whole; left out to derive them from the rows. */
  readonly states?: readonly string[] | 'US';
  /** Load files that do not look like the loader's. */
  readonly force?: boolean;
  /** Replace the dataset even if that loses rows. */
  readonly replace?: boolean;
}

/** Turns the files of an agency into a dataset; the report gets the outcome of each row. */
export type StartLoad = (
  files: readonly string[],
  options: LoaderOptions,
  report: LoadReporter,
) => StreamedDataset | Promise<StreamedDataset>;

/** How an agency's file is loaded. */
export interface Loader {
  /** The publisher and the name of the download. */
  readonly describe: string;
  /** The dataset that it fills, and its level; '' for none or for either. */
  readonly loads: { readonly name: DatasetName; readonly level: Level };
  readonly start: StartLoad;
}

/** The source of the data, and the attribution that its publisher requires. */
export interface Publication {
  readonly source: string;
  readonly licence: string;
}

/** Works of US agencies are in the public domain (17 USC 105) and need no attribution, so this only names the source. */
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

/** The records of some files, one file after the other. */
export async function* inTurn<T>(
  files: readonly string[],
  report: LoadReporter,
  records: (file: string) => AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[], void, void> {
  for (const file of files) {
    report.openFile(basename(file));
    yield* records(file);
  }
}
