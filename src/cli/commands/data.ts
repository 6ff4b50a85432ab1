import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Source } from '../../data/sources/source.ts';
import { overriddenSources } from '../../data/sources/source-overrides.ts';
import { SOURCES } from '../../data/sources/source-table.ts';
import { type DataDatabase, openDataDatabase, openDataReadOnly } from '../../data/tables/data-database.ts';
import { PerilbookError } from '../../errors.ts';
import type { Flags } from '../command.ts';
import { type CliContext, dataFolder } from '../context.ts';
import { checkSourcesAction, removeAction } from './data-check.ts';
import { getAction, updateAction } from './data-get.ts';
import { listAction } from './data-list.ts';
import { loadAction } from './data-load.ts';

/** Sources, files and mirror of `perilbook data`. */
export interface DataSurroundings {
  readonly sources: readonly Source[];
  readonly downloads: string;
  readonly file: string;
  /** A server that replaces all others, or a copy of a downloads folder. */
  readonly mirror?: string;
  readonly copy?: string;
  readonly contact?: string;
  /** Opens the data file for writing; the command closes it. */
  readonly open: () => DataDatabase;
}

/** `perilbook data [get | update | check | remove | load]`: the agencies' data on this machine. */
export async function dataCommand(loud: CliContext, flags: Flags): Promise<number> {
  const context = { ...loud, isQuiet: flags.quiet === true };
  using opened = new DisposableStack();
  const file = resolve(context.workingFolder, (flags.db as string | undefined) ?? `${dataFolder(context)}/service.db`);
  let database: DataDatabase | undefined;
  const open = (): DataDatabase => {
    mkdirSync(dirname(file), { recursive: true });
    database ??= opened.use(openDataDatabase(file));
    return database;
  };
  const surroundings = { ...sourcesOf(context, flags), file, open };
  const names = ((flags.names as string[] | undefined) ?? []).map(String);
  switch (flags.action) {
    case 'get':
      return await getAction(context, surroundings, names, flags);
    case 'update':
      return await updateAction(context, surroundings, names, flags);
    case 'check':
      return await checkSourcesAction(context, surroundings, names, flags);
    case 'remove':
      return removeAction(context, surroundings, names, flags);
    case 'load':
      return await loadAction(context, surroundings, names, flags);
    default:
      if (flags.db !== undefined) refuseMissing(file, '--db');
      return listAction(context, surroundings, existsSync(file) ? opened.use(openDataReadOnly(file)) : null, flags);
  }
}

/** A misspelled name must not look like a file without data. */
export function refuseMissing(file: string, option: string): void {
  if (existsSync(file)) return;
  throw new PerilbookError('SERVICE_DATA', `There is no file ${file}`, `Check the name that ${option} gives.`, {
    file,
  });
}

/** The sources, with the addresses of `sources.yaml`, and the folder of their files. */
export function sourcesOf(context: CliContext, flags: Flags): Omit<DataSurroundings, 'open' | 'file'> {
  const said = flags.sources as string | undefined;
  const folder = dataFolder(context);
  const file = said === undefined ? join(folder, 'sources.yaml') : resolve(context.workingFolder, said);
  const { mirror, ...others } = overriddenSources(file, SOURCES, said === undefined);
  return { ...others, downloads: join(folder, 'downloads'), ...mirrorOf(context, flags, mirror) };
}

function mirrorOf(
  context: CliContext,
  flags: Flags,
  usual: string | undefined,
): Pick<DataSurroundings, 'mirror' | 'copy'> {
  const said = (flags.mirror as string | undefined) ?? usual;
  if (said === undefined) return {};
  if (/^https?:\/\//i.test(said)) return { mirror: said };
  const copy = resolve(context.workingFolder, said);
  if (statSync(copy, { throwIfNoEntry: false })?.isDirectory()) return { copy };
  throw new PerilbookError(
    'USAGE',
    `--mirror "${said}" is neither an address nor a folder`,
    'Give http://… or https://…, or a copy of the downloads folder of another machine.',
  );
}
