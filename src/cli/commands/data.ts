import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { onDataFile, openDataReadOnly } from '../../data/tables/data-database.ts';
import type { RunCommand } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, dataFolder } from '../context.ts';
import { type DataAction, openDataSettings, readSources, refuseMissing, type SourceFlags } from '../data-settings.ts';
import { checkSourcesAction, removeAction } from './data-check.ts';
import { getAction, updateAction } from './data-get.ts';
import { listAction } from './data-list.ts';
import { loadAction } from './data-load.ts';

/** A command that opens the data file for writing when it needs it, and closes it. */
function onData<Flags extends SourceFlags & { readonly db?: string | undefined; readonly quiet?: boolean | undefined }>(
  act: DataAction<Flags>,
): RunCommand<Flags> {
  return async (loud, flags, names) => {
    const context = { ...loud, isQuiet: flags.quiet === true };
    using settings = openDataSettings(context, flags, findDataFile(context, flags));
    return await onDataFile(settings.file, () => act(context, settings, names, flags));
  };
}

async function listCommand(context: CliContext, flags: Flags<'data'>): Promise<number> {
  const file = findDataFile(context, flags);
  const sources = readSources(context, flags);
  if (flags.db !== undefined) refuseMissing(file, '--db');
  using database = existsSync(file) ? openDataReadOnly(file) : null;
  return listAction(context, { ...sources, file }, database, flags);
}

function findDataFile(context: CliContext, { db }: { readonly db?: string | undefined }): string {
  return resolve(context.workingFolder, db ?? `${dataFolder(context)}/data.db`);
}

/** The commands of `perilbook data`: the agencies' data on this machine. */
export const dataCommands = {
  data: listCommand,
  'data get': onData(getAction),
  'data update': onData(updateAction),
  'data check': onData(checkSourcesAction),
  'data remove': onData(removeAction),
  'data load': onData(loadAction),
};
