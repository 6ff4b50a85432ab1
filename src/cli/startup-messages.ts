/* What the bin itself says, before and beside a command. Imports nothing, so that the first word comes at once. */

/**
 * What a run says before anything is loaded, and with it a tenth of a second after it was called: everything else takes
 * several times as long to be there. A plan says it to somebody who sits before it. Nothing where only what goes wrong is
 * wanted.
 */
export function startMessage(args: readonly string[], isTerminal = false): string {
  const [command, target, ...rest] = args;
  const isSilent = [target, ...rest].some((arg) => /^(--quiet|--help|-[a-z]*[qh][a-z]*)$/.test(arg ?? ''));
  const isWaitedFor = command === 'run' || (command === 'plan' && isTerminal);
  if (!isWaitedFor || target === undefined || isSilent) return '';
  if (target === '-') return 'perilbook: reading stdin\n';
  return target.startsWith('-') ? 'perilbook: starting\n' : `perilbook: reading ${target}\n`;
}

/** What an interrupt is answered with: what is still done before the end, and how not to wait for it. */
export function stopMessage([command, action]: readonly string[]): string {
  const again = 'Again to leave at once.';
  if (command === 'run' || command === 'ui') {
    return `\nperilbook: stopping: calls in flight land, then the output is written. ${again}\n`;
  }
  const serves = command === 'service' && action === 'start';
  return `\nperilbook: stopping${serves ? ': answers in flight are handed over' : ''}. ${again}\n`;
}
