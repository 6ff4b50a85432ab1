/* Loaded into a run before anything else. Counts its steps, that is all that leaves a mark outside of the process or takes
 * one in: each statement of SQLite (BEGIN and COMMIT are statements), each write, sync, close, rename and removal of a file,
 * each piece of an HTTP request and of an answer. Kills the process just before the step that KILL_AT_STEP names, by its
 * number (817) or by what it does (rename 2 is the second one); writes the number of steps to the file that COUNT_STEPS
 * names. */
import { writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import Database from 'better-sqlite3';

const killAt = process.env.KILL_AT_STEP;
let steps = 0;
const stepsOf = new Map<string, number>();

function step(name: string): void {
  const ofName = (stepsOf.get(name) ?? 0) + 1;
  stepsOf.set(name, ofName);
  if (String(++steps) === killAt || `${name} ${ofName}` === killAt)
    process.kill(process.pid, 'SIGKILL');
}

/** Makes each call of these methods a step. */
function count(owner: object, names: readonly string[]): void {
  const methods = owner as Record<string, (...given: unknown[]) => unknown>;
  for (const name of names) {
    const method = methods[name]!;
    methods[name] = function (this: unknown, ...given: unknown[]) {
      step(name);
      return method.apply(this, given);
    };
  }
}

const memory = new Database(':memory:');
count(Object.getPrototypeOf(memory.prepare('SELECT 1')), ['run', 'get', 'all']);
count(Object.getPrototypeOf(memory), ['exec', 'pragma', 'close']);
memory.close();
const handle = await fs.open(import.meta.filename);
count(Object.getPrototypeOf(handle), ['writeFile', 'sync', 'datasync', 'close', 'chmod']);
await handle.close();
count(fs, ['open', 'rename', 'unlink']);
syncBuiltinESMExports();
count(Socket.prototype, ['write', 'push']);

steps = 0;
stepsOf.clear();
if (process.env.COUNT_STEPS) {
  const file = process.env.COUNT_STEPS;
  process.on('exit', () => writeFileSync(file, String(steps)));
}
