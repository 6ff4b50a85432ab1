import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Bin, startBin } from './bin-process.ts';

const timeout = 120_000;
const skip = process.platform === 'win32' && 'Windows has no such pipes';
const SERVICE = ['--base-url', 'http://127.0.0.1:9', '--topics', 'wildfire', '--yes'];

/** Commands that wait for a pipe to which nobody writes; each ends at the first SIGTERM. */
const WAITING: Readonly<Record<string, readonly string[]>> = {
  'the input of a run': ['run', 'pipe', '-o', 'x.csv', '--topics', 'wildfire', '--service', 'sample'],
  'the input of a plan': ['plan', 'pipe', '--topics', 'wildfire', '--service', 'sample'],
  'the states of a file': ['data', 'get', 'radon', '--for', 'pipe', '--dry-run'],
  'the key of a run': ['run', 'in.csv', '-o', 'x.csv', ...SERVICE, '--api-key-file', 'pipe'],
  'the key of the page': ['ui', '--base-url', 'http://127.0.0.1:9', '--api-key-file', 'pipe'],
  'the key of a check': ['service', 'check', '--base-url', 'http://127.0.0.1:9', '--yes', '--api-key-file', 'pipe'],
  'a pipe as the output': ['run', 'in.csv', '-o', 'pipe', '--topics', 'wildfire', '--service', 'sample'],
};

for (const [what, args] of Object.entries(WAITING)) {
  test(`a signal ends a command that waits for ${what}`, { timeout, skip }, async (t) => {
    const folder = temporaryFolder(t);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(join(folder, 'in.csv'), 'lat,lng\n40.7,-73.9\n');
    const bin = startBin(t, args, folder);
    const isOver = bin.ended.then(() => true);
    const pipe = join(folder, 'pipe');
    const isOutput = args[args.indexOf('-o') + 1] === 'pipe';
    if (isOutput) await bin.said('writing: 1 row');
    else {
      const writer = await openForWriting(pipe, bin);
      t.after(() => closeSync(writer));
    }
    bin.kill('SIGTERM');
    const hasEnded = await Promise.race([isOver, delay(10_000, false)]);
    assert.ok(hasEnded, `it waits on: ${bin.text()}`);
    assert.equal((await bin.ended).code, 130, bin.text());
  });
}

/** Opens the pipe as soon as the program reads it, and writes nothing. */
async function openForWriting(pipe: string, bin: Bin): Promise<number> {
  for (;;) {
    assert.ok(bin.isRunning, `it ended early: ${bin.text()}`);
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      await delay(50);
    }
  }
}

/** Files that must be read at once, and how a message names what they are. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'an endless input': ['run', '/dev/zero', '-o', 'x.csv', '--topics', 'wildfire', '--service', 'sample'],
  'a random input': ['plan', '/dev/urandom', '--topics', 'wildfire', '--service', 'sample'],
  'an endless key': ['run', 'in.csv', '-o', 'x.csv', ...SERVICE, '--api-key-file', '/dev/zero'],
  'a job in a pipe': ['run', 'job.yaml'],
  'data in a pipe': ['data', 'load', 'hail', 'pipe'],
  'endless data': ['data', 'load', 'hail', '/dev/zero'],
  'sources in a pipe': ['data', 'get', '--states', 'NH', '--sources', 'pipe'],
};

for (const [what, args] of Object.entries(REFUSED)) {
  test(`${what} is refused at once`, { timeout, skip }, async (t) => {
    const folder = temporaryFolder(t);
    for (const name of ['pipe', 'job.yaml']) execFileSync('mkfifo', [join(folder, name)]);
    writeFileSync(join(folder, 'in.csv'), 'lat,lng\n40.7,-73.9\n');
    const bin = startBin(t, args, folder);
    const hasEnded = await Promise.race([bin.ended.then(() => true), delay(20_000, false)]);
    assert.ok(hasEnded, `it waits on: ${bin.text()}`);
    const { code, stderr } = await bin.ended;
    assert.ok(code === 2 || code === 5, stderr);
    assert.match(stderr, /is a (pipe|device|pipe or a device)/);
  });
}
