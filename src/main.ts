// Each part is loaded when it is needed: the first message appears before the program is loaded.
import manifest from '../package.json' with { type: 'json' };
import { commitOfProgram } from './base/commit.ts';

if (process.argv.length === 3 && process.argv[2] === '--version') {
  process.stdout.write(`${versionText()}\n`);
  process.exit(0);
}

const { endsInOrder, lostOutputMessage, stopMessage } = await import('./cli/frame/log-lines.ts');

const { systemClock } = await import('./base/clock.ts');
const { program } = await import('./cli/program.ts');
const { EXIT } = await import('./cli/options/exit-codes.ts');
const { processOwner } = await import('./base/running-processes.ts');

const { printCommandsFor, shellOf } = await import('./base/shell-words.ts');
printCommandsFor(shellOf(process.platform, process.env));

const { removeUnfinished } = await import('./rows/files/temporary-files.ts');
process.on('exit', removeUnfinished);

const interruption = new AbortController();
function interrupt(): void {
  if (interruption.signal.aborted) process.exit(130);
  // First: the progress display clears its lines for the message.
  interruption.abort();
  process.stderr.write(stopMessage(process.argv.slice(2), Date.now()));
  if (!endsInOrder(process.argv.slice(2))) process.exit(130);
}
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// Ctrl-Break of a Windows console.
if (process.platform === 'win32') process.on('SIGBREAK', interrupt);
// The terminal was closed. Shell and system may both send the signal; the second one must not quit at once. (Node overrides
// nohup's SIGHUP, so a run under nohup ends like this too.)
process.on('SIGHUP', () => {
  if (!interruption.signal.aborted) interrupt();
});

// A closed pipe (`| head`) or a full disk must not abort a run with calls in flight: it ends in order, with `on_finish`.
process.stderr.on('error', () => {});
let isTold = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EIO: the terminal was closed. Code that writes rows to stdout has its own listener and error message.
  const isReaderGone = error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY);
  if (isReaderGone || isTold || process.stdout.listenerCount('error') > 1) return;
  isTold = true;
  process.stderr.write(lostOutputMessage(process.argv.slice(2), error.message, Date.now()));
  process.exitCode ||= EXIT.usage;
});

const code = await program(
  {
    args: process.argv.slice(2),
    env: process.env,
    workingFolder: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    random: Math.random,
    interrupt: interruption.signal,
    owner: processOwner(),
  },
  versionText(),
);
process.exitCode = code || process.exitCode || EXIT.complete;

/** The commit is looked up only where it is shown: in a checkout that starts git. */
function versionText(): string {
  const commit = process.argv.includes('--version') ? commitOfProgram() : null;
  return commit === null ? manifest.version : `${manifest.version} (${commit})`;
}
