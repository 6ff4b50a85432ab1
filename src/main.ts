#!/usr/bin/env -S node --max-semi-space-size=16
// The flag: V8 lets the space for new objects grow to several times this where rows are made faster than they are let go; a
// run of a million rows then took up to 500 MB in place of 340, and was no faster.
import { randomUUID } from 'node:crypto';

// Before anything else is loaded: better-sqlite3 crashes the process on older versions instead of saying so.
if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(
    `perilbook: Node.js ${process.versions.node} is too old, 24 is needed [NODE_TOO_OLD]\n` +
      '  Install Node 24, or run it from a checkout by npm: npm ci && npm start uses the Node that comes with it.\n',
  );
  process.exit(2);
}

const { startMessage, stopMessage } = await import('./cli/startup-messages.ts');
process.stderr.write(startMessage(process.argv.slice(2), process.stderr.isTTY));

const { systemClock } = await import('./clock.ts');
const { program } = await import('./cli/program.ts');
const { isProcessRunning, machineName } = await import('./running-processes.ts');
const { default: manifest } = await import('../package.json', { with: { type: 'json' } });

const interruption = new AbortController();
function interrupt(): void {
  if (interruption.signal.aborted) process.exit(130);
  // First: what shows progress makes room for the words.
  interruption.abort();
  process.stderr.write(stopMessage(process.argv.slice(2)));
}
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
// The terminal was closed. It is said up to twice, by the shell and by the system, and means no more the second time. (Node
// takes SIGHUP back from nohup, so that this is how a run under nohup ends too, in place of being killed.)
process.on('SIGHUP', () => {
  if (!interruption.signal.aborted) interrupt();
});

// A reader that goes (`| head`, a log's pipe) is no reason to break off a run that has calls in flight; a file that takes
// no more of what was asked for is.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EIO: a terminal that was closed. Who writes rows there listens too, and says it in words.
  const isReaderGone = error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY);
  if (!isReaderGone && process.stdout.listenerCount('error') === 1) throw error;
});

/** Claims name their process, so that those of a killed one can be told from those of one at work. */
const owner = `${machineName()}/${process.pid}/${randomUUID()}`;

process.exitCode = await program(
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
    owner: { name: owner, isAlive },
  },
  manifest.version,
);

function isAlive(other: string): boolean {
  const [machine, pid] = other.split('/');
  return machine !== machineName() || isProcessRunning(Number(pid));
}
