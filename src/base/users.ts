import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { resultOrNull } from './errors.ts';

/** The number of the user of this process; -1 where users have none (Windows). Not of `os.userInfo()`, which fails for a user without an
 * entry in the list of users, as containers have. */
export function ownUser(): number {
  return process.geteuid?.() ?? -1;
}

/** Whether a path leads to what another user made in a folder in which all may make files, such as /tmp: a file there may have been laid to
 * get what is written to it, or to be believed. So may a link to a folder on the way; a folder itself may be shared on purpose, and what its
 * owner made in a shared folder he could put there at any time, except that in a sticky one he alone can replace his file. */
export function isPlanted(path: string, isOnTheWay = false): boolean {
  const parent = dirname(path);
  if (parent === path) return false;
  const [file, folder] = [
    resultOrNull(() => lstatSync(path)),
    resultOrNull(() => statSync(parent)),
  ];
  const isOfAnother =
    file !== null &&
    folder !== null &&
    (folder.mode & 0o002) !== 0 &&
    file.uid !== ownUser() &&
    ((!isOnTheWay && (folder.mode & 0o1000) !== 0) || file.uid !== folder.uid);
  return (isOfAnother && (!isOnTheWay || file.isSymbolicLink())) || isPlanted(parent, true);
}

export const PLANTED =
  'belongs to another user, or lies behind a link of one, in a folder that all users share';
