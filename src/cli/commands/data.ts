import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type DataDatabase, openDataDatabase, openDataReadOnly } from '../../data/tables/data-database.ts';
import type { Flags } from '../command.ts';
import { type CliContext, dataFolder } from '../context.ts';
import { type DataSettings, refuseMissing, sourcesOf } from '../data-settings.ts';
import { checkSourcesAction, removeAction } from './data-check.ts';
import { getAction, updateAction } from './data-get.ts';
import { listAction } from './data-list.ts';
import { loadAction } from './data-load.ts';

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
  const surroundings: DataSettings = { ...sourcesOf(context, flags), file, open };
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
