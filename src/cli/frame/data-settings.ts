import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { readInputPath, withoutQuotes } from '../../base/path-names.ts';
import { shownAddress } from '../../base/shown-address.ts';
import { readServiceAddress } from '../../contract/service-address.ts';
import { layerSources } from '../../data/sources/layer-sources.ts';
import type { Source } from '../../data/sources/source.ts';
import { overriddenSources } from '../../data/sources/source-overrides.ts';
import { SOURCES } from '../../data/sources/source-table.ts';
import { type DataDatabase, openDataDatabase } from '../../data/tables/data-database.ts';
import { type ExitCode, pathGiven, usageError } from '../options/command.ts';
import { type CliContext, dataFolder } from './context.ts';

/** Sources, files and mirror of `perilbook data`. */
export interface DataSettings {
  readonly sources: readonly Source[];
  readonly downloads: string;
  readonly file: string;
  /** A server that replaces all others, or a copy of a downloads folder. */
  readonly mirror?: string;
  readonly copy?: string;
  /** How the user's own addresses begin, which are not asked at the mirror. */
  readonly own?: readonly string[] | undefined;
  readonly contact?: string | undefined;
  /** Opens the data file for writing, once. Disposing of the settings closes it. */
  readonly open: () => DataDatabase;
}

export interface SourceFlags {
  readonly sources?: string | undefined;
  readonly mirror?: string | undefined;
}

/** A command that may open the data file. */
export type DataAction<Flags> = (
  context: CliContext,
  settings: DataSettings,
  names: readonly string[],
  flags: Flags,
) => Promise<ExitCode>;

/** The settings of a command that may open the data file; disposing of them closes it. */
export function openDataSettings(
  context: CliContext,
  flags: SourceFlags,
  file: string,
): DataSettings & Disposable {
  const opened = new DisposableStack();
  let database: DataDatabase | undefined;
  const open = (): DataDatabase => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database ??= opened.use(openDataDatabase(file));
    return database;
  };
  return { ...readSources(context, flags), file, open, [Symbol.dispose]: () => opened.dispose() };
}

/** A misspelled name must be an error, not an empty data file. */
export function refuseMissing(file: string, option: string): void {
  if (existsSync(file)) return;
  const hint = `Check the name that ${option} gives.`;
  throw new PerilbookError('SERVICE_DATA', `There is no file ${file}`, hint, { file });
}

/** The sources, with the addresses of `sources.yaml`, and the folder of their files. */
export function readSources(
  context: CliContext,
  flags: SourceFlags,
): Omit<DataSettings, 'open' | 'file'> {
  const given = flags.sources;
  const folder = dataFolder(context);
  const file =
    given === undefined
      ? join(folder, 'sources.yaml')
      : resolve(context.workingFolder, pathGiven('--sources', given, readInputPath));
  const { mirror, ...others } = overriddenSources(
    file,
    [...SOURCES, ...layerSources()],
    given === undefined,
  );
  return {
    ...others,
    downloads: join(folder, 'downloads'),
    ...parseMirror(context, flags, mirror),
  };
}

function parseMirror(context: CliContext, flags: SourceFlags, usual: string | undefined) {
  const given = flags.mirror ?? usual;
  if (given === undefined) return {};
  const plain = withoutQuotes(given);
  if (/^https?:\/\//i.test(plain)) {
    const address = readServiceAddress(plain);
    if (typeof address === 'string') return { mirror: address };
    throw usageError(`--mirror: ${address.fault}`, MIRROR_HINT);
  }
  const copy = resolve(context.workingFolder, pathGiven('--mirror', plain, readInputPath));
  if (statSync(copy, { throwIfNoEntry: false })?.isDirectory()) return { copy };
  throw usageError(
    `--mirror "${shownAddress(given)}" is neither an address nor a folder`,
    MIRROR_HINT,
  );
}

const MIRROR_HINT =
  'Give http://… or https://…, or a copy of the downloads folder of another machine.';
