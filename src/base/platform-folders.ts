import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PerilbookError, resultOrNull } from './errors.ts';

/** Variables of the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The home folder of the user: HOME, which cron, containers and `su` may lack, else that of the user's entry in the system's list. Null
 * for a user without either. */
export function homeFolder({ HOME }: Variables): string | null {
  if (HOME !== undefined && isAbsolute(HOME)) return HOME;
  return resultOrNull(() => userInfo().homedir) || null;
}

/** The folder in which Perilbook keeps its data, also one of an earlier version. Null where the user has no home folder. */
export function dataFolderOf(env: Variables, system = process.platform): string | null {
  return formerFolder(env, system) ?? todaysFolder(env, system);
}

/** By the XDG Base Directory Specification, which ignores a relative path; on Windows the folder for programs' data of this machine. */
function todaysFolder(env: Variables, system: NodeJS.Platform): string | null {
  const { XDG_DATA_HOME: given, LOCALAPPDATA: local } = env;
  if (given !== undefined && isAbsolute(given)) return join(given, 'perilbook');
  if (system === 'win32' && local !== undefined && isAbsolute(local))
    return join(local, 'perilbook');
  const home = homeFolder(env);
  return home === null
    ? null
    : join(home, system === 'win32' ? 'AppData/Local' : '.local/share', 'perilbook');
}

/** Where a version before 1.0.0 kept its data on Windows, if its store is there and today's folder has none; else null. */
export function formerFolder(env: Variables, system = process.platform): string | null {
  const [folder, home] = [todaysFolder(env, system), homeFolder(env)];
  if (system !== 'win32' || folder === null || home === null || env.XDG_DATA_HOME) return null;
  const former = join(home, '.local/share/perilbook');
  const hasStore = (place: string) => existsSync(join(place, 'store.db'));
  return hasStore(former) && !hasStore(folder) ? former : null;
}

/** In place of that folder where there is none: nothing is ever in it, and nothing is written to it. */
export const NO_FOLDER = '/nonexistent/perilbook';

/** The error where there is no such folder. @param option that names a file in its place */
export function noDataFolder(option: string): PerilbookError {
  const message = 'This user has no home folder, so there is no place for what Perilbook keeps';
  return new PerilbookError(
    'USAGE',
    message,
    `Name one: ${option}, or set XDG_DATA_HOME to an absolute path.`,
  );
}

/** Whether a path begins with somebody's home folder, as shells write it. */
export function isOfHome(path: string, system = process.platform): boolean {
  return (system === 'win32' ? /^~[\w.-]*[/\\]/ : /^~[\w.-]*\//).test(path);
}

/** A path with the home folder in place of a leading `~/`, which a shell replaces only at the beginning of a word, and PowerShell
 * before 7.5 not even there. Any other path stays.
 * @throws USAGE for the folder of another user, or without a home folder: never a folder called `~` */
export function withHome(path: string, home: string | null, system = process.platform): string {
  if (!isOfHome(path, system)) return path;
  const isOwn = /^~[/\\]/.test(path);
  if (isOwn && home !== null) return join(home, path.slice(2));
  const why = isOwn ? 'this user has no home folder' : 'only ~/ is replaced by a home folder';
  throw new PerilbookError(
    'USAGE',
    `The path ${path} cannot be resolved: ${why}`,
    'Write the whole path.',
  );
}
