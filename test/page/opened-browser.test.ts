import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { noBrowser, startBrowser } from '../browser.ts';
import { perilbook } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const timeout = 40_000;

test('the browser is given a file of the user alone, which leads to the page once and goes with it', {
  timeout,
  skip: process.platform !== 'linux' && 'macOS has another command',
}, async (t) => {
  const folder = temporaryFolder(t);
  const told = join(folder, 'told');
  mkdirSync(join(folder, 'bin'));
  const opener = join(folder, 'bin/xdg-open');
  writeFileSync(opener, `#!/bin/sh\necho "$@" > ${told}.part && mv ${told}.part ${told}\n`);
  chmodSync(opener, 0o755);
  const stopped = new AbortController();
  t.after(() => stopped.abort());
  const running = perilbook(['ui'], {
    folder,
    typed: '',
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, DISPLAY: ':1', HOME: folder, XDG_DATA_HOME: folder },
    interrupt: stopped.signal,
  });
  const isOver = running.then(() => true);
  while (!existsSync(told)) assert.ok(!(await Promise.race([isOver, delay(50, false)])), 'it ended');
  const file = readFileSync(told, 'utf8').trim();
  assert.doesNotMatch(file, /token|http/, 'every user of the machine reads arguments');
  assert.deepEqual([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777], [0o600, 0o700]);
  const [, address] = /url=(http:[^"]+)"/.exec(readFileSync(file, 'utf8'))!;
  assert.match(address!, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{22}$/);
  if (noBrowser === false) {
    const page = await (await startBrowser(t)).newPage();
    await page.goto(pathToFileURL(file).href);
    await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    await page.locator('#app, main').first().waitFor();
    assert.doesNotMatch(await page.content(), /no session|already used/);
    await page.close();
  }
  stopped.abort();
  await running;
  assert.ok(!existsSync(dirname(file)), 'removed');
});
