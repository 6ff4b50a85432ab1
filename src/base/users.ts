import type { Stats } from 'node:fs';

/** The number of the user of this process; -1 where users have none (Windows). Not of `os.userInfo()`, which fails for a user without an
 * entry in the list of users, as containers have. */
export function ownUser(): number {
  return process.geteuid?.() ?? -1;
}

/** Whether a file is of another user, in a folder in which all may make files, such as /tmp: it may have been laid there to get what is
 * written to it, or to be believed. In a folder that is not sticky, its owner may do so with any file. */
export function isPlanted(file: Stats, folder: Stats): boolean {
  const isSticky = (folder.mode & 0o1000) !== 0;
  return (folder.mode & 0o002) !== 0 && file.uid !== ownUser() && (isSticky || file.uid !== folder.uid);
}

export const PLANTED = 'belongs to another user, in a folder that all users share';
