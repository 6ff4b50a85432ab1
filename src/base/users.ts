/** The number of the user of this process; -1 where users have none (Windows). Not of `os.userInfo()`, which fails for a user without an
 * entry in the list of users, as containers have. */
export function ownUser(): number {
  return process.geteuid?.() ?? -1;
}
