import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { folderWith } from '../sample-database.ts';
import { perilbook, wordsIn } from './command-line.ts';

const skip = process.platform === 'win32' && 'Windows has no such pipes';
const SERVICE = '--base-url http://127.0.0.1:9';
/** Far more than a command takes that does not wait. */
const ENDLESS_MS = 60_000;

function folderWithPipes(t: TestContext): string {
  const files = { 'in.csv': 'lat,lng\n40.7,-73.9\n' };
  const folder = folderWith(t, files, '.local/share/perilbook/store.db');
  execFileSync('mkfifo', [join(folder, 'pipe'), join(folder, 'job.yaml')]);
  return folder;
}

/** Commands that wait for a pipe to which nobody writes; each ends when the user interrupts it. */
const WAITING: Readonly<Record<string, string>> = {
  'the input of a plan': 'plan pipe --topics wildfire --service sample',
  'the key of a run': `run in.csv -o x.csv ${SERVICE} --topics wildfire --yes --api-key-file pipe`,
  'the key of the page': `ui ${SERVICE} --api-key-file pipe`,
  'the key of a check': `service check ${SERVICE} --yes --api-key-file pipe`,
};

for (const [what, words] of Object.entries(WAITING)) {
  test(`an interruption ends a command that waits for ${what}`, { skip }, async (t) => {
    const folder = folderWithPipes(t);
    const interruption = new AbortController();
    const { signal: interrupt } = interruption;
    const command = perilbook(wordsIn(words), { folder, interrupt });
    const isOver = new AbortController();
    void command.then(() => isOver.abort());
    const writer = await openForWriting(join(folder, 'pipe'), isOver.signal);
    t.after(() => closeSync(writer));
    interruption.abort();
    const { code, stderr } = await inTime(command);
    assert.equal(code, 130, stderr);
  });
}

/** Files that must be read at once, and are refused because they would be waited for. */
const REFUSED: Readonly<Record<string, string>> = {
  'an endless input': 'run /dev/zero -o x.csv --topics wildfire --service sample',
  'a random input': 'plan /dev/urandom --topics wildfire --service sample',
  'an endless key': `run in.csv -o x.csv ${SERVICE} --topics wildfire --yes --api-key-file /dev/zero`,
  'a job in a pipe': 'run job.yaml',
  'data in a pipe': 'data load hail pipe',
  'endless data': 'data load hail /dev/zero',
  'sources in a pipe': 'data get --states NH --sources pipe',
};

for (const [what, words] of Object.entries(REFUSED)) {
  test(`${what} is refused at once`, { skip }, async (t) => {
    const folder = folderWithPipes(t);
    const { code, stderr } = await inTime(perilbook(wordsIn(words), { folder }));
    assert.ok(code === 2 || code === 5, stderr);
    assert.match(stderr, /is a (pipe|device|pipe or a device)/);
  });
}

/** Opens the pipe as soon as the program reads it, and writes nothing. */
async function openForWriting(pipe: string, isOver: AbortSignal): Promise<number> {
  for (;;) {
    assert.ok(!isOver.aborted, 'it ended early');
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // Nobody reads it yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await delay(5);
    }
  }
}

async function inTime<Result>(command: Promise<Result>): Promise<Result> {
  const ended = await Promise.race([command, delay(ENDLESS_MS, null, { ref: false })]);
  assert.ok(ended !== null, 'it waits on');
  return ended;
}
