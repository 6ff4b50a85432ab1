import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { resultOrNull } from './errors.ts';

/** The number of the user of this process; -1 where users have none (Windows). Not of `os.userInfo()`, which fails for a user without an
 * entry in the list of users, as containers have. */
export function ownUser(): number {
  return process.geteuid?.() ?? -1;
}

/** Whether a path leads to what another user made in a folder in which all may make files, such as /tmp: a file there may have been laid to
 * get what is written to it, or to be believed. So may a link on the way; a folder on the way may be shared on purpose. */
export function isPlanted(path: string): boolean {
  const entry = readEntry(path);
  return (entry !== null && isLaidByOther(entry)) || isBehindLaidLink(dirname(path));
}

/** A name in a folder: the file or link itself, and the folder. */
interface Entry {
  readonly file: Stats;
  readonly folder: Stats;
}

/** Null where there is nothing, where it may not be seen, and for the root. */
function readEntry(path: string): Entry | null {
  const parent = dirname(path);
  if (parent === path) return null;
  return resultOrNull(() => ({ file: lstatSync(path), folder: statSync(parent) }));
}

const OTHERS_MAY_WRITE = 0o002;
const STICKY = 0o1000;

/** In a folder of all, a file of another user is laid, also one of the folder's owner where it is sticky: then he alone can replace it. In
 * another one its owner can put and replace files at any time. */
function isLaidByOther(entry: Entry): boolean {
  return isOthersInOpenFolder(entry) && (isSticky(entry) || !isOfFolderOwner(entry));
}

/** What the folder's owner made on the way he could have put there at any time. */
function isBehindLaidLink(path: string): boolean {
  const parent = dirname(path);
  if (parent === path) return false;
  const entry = readEntry(path);
  const isLaid =
    entry?.file.isSymbolicLink() === true && isOthersInOpenFolder(entry) && !isOfFolderOwner(entry);
  return isLaid || isBehindLaidLink(parent);
}

function isOthersInOpenFolder({ file, folder }: Entry): boolean {
  return (folder.mode & OTHERS_MAY_WRITE) !== 0 && file.uid !== ownUser();
}

function isSticky({ folder }: Entry): boolean {
  return (folder.mode & STICKY) !== 0;
}

function isOfFolderOwner({ file, folder }: Entry): boolean {
  return file.uid === folder.uid;
}

export const PLANTED =
  'belongs to another user, or lies behind a link of one, in a folder that all users share';
