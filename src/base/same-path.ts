const IGNORE_CASE: readonly string[] = ['win32', 'darwin'];

/** Whether two absolute paths name one file, which need not exist. Windows and macOS, as they are set up, ignore case. */
export function isSamePath(a: string, b: string, system = process.platform): boolean {
  return a === b || (IGNORE_CASE.includes(system) && a.toLowerCase() === b.toLowerCase());
}
