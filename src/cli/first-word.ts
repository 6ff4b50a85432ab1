/**
 * What a run says before anything is loaded, and with it a tenth of a second after it was called: everything else takes
 * several times as long to be there. A plan says it to somebody who sits before it. Nothing where only what goes wrong is
 * wanted. Imports nothing, for that reason.
 */
export function firstWord(args: readonly string[], isTerminal = false): string {
  const [command, target, ...rest] = args;
  const isSilent = [target, ...rest].some((arg) => /^(--quiet|--help|-[a-z]*[qh][a-z]*)$/.test(arg ?? ''));
  const isWaitedFor = command === 'run' || (command === 'plan' && isTerminal);
  if (!isWaitedFor || target === undefined || isSilent) return '';
  if (target === '-') return 'perilbook: reading stdin\n';
  return target.startsWith('-') ? 'perilbook: starting\n' : `perilbook: reading ${target}\n`;
}
