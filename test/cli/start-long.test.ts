import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ROOT } from './command-line.ts';

const BIN = join(ROOT, 'bin/perilbook.cjs');

/** Writes the addresses of all modules to the file MODULES when the process ends. */
const LISTING = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
process.on('exit', () => writeFileSync(process.env.MODULES, loaded.join('\\n')));`;

/** The libraries that a command line loads. */
function librariesOf(t: TestContext, words: readonly string[]): string[] {
  const folder = folderWith(t, { 'book.csv': 'lat,lng\n34.0522,-118.2437\n' });
  const listing = `data:text/javascript,${encodeURIComponent(LISTING)}`;
  const env = { ...process.env, MODULES: join(folder, 'modules'), XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder };
  execFileSync(process.execPath, ['--import', listing, BIN, ...words], { cwd: folder, env, stdio: 'pipe' });
  const urls = readFileSync(env.MODULES, 'utf8').split('\n');
  assert.match(urls.join(), /\/src\/main\.ts/, 'the modules are listed');
  return [...new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []))];
}

test('the version loads no library, help yargs alone, and a plan no server, client or driver of PostgreSQL', (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual(librariesOf(t, ['--version']), []);
  const ofHelp = librariesOf(t, ['help']).filter((name) => name in dependencies);
  assert.deepEqual(ofHelp, ['yargs', 'string-width']);
  const ofPlan = librariesOf(t, ['plan', 'book.csv', '--service', 'sample']);
  assert.ok(ofPlan.includes('better-sqlite3'));
  const others = ['fastify', 'pg', 'undici', 'd3-geo', 'shapefile', 'saxes', 'yauzl'];
  assert.deepEqual(
    others.filter((name) => ofPlan.includes(name)),
    [],
  );
});

test("compiled code is kept in the user's cache folder, where that can be written", (t) => {
  const folder = temporaryFolder(t);
  const start = (XDG_CACHE_HOME: string) => {
    const env = { PATH: process.env.PATH, XDG_CACHE_HOME };
    return execFileSync(process.execPath, [BIN, 'help'], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  };
  const said = start(join(folder, 'cache'));
  assert.ok(readdirSync(join(folder, 'cache/perilbook')).length > 0);
  // A file stands where the folder should be.
  writeFileSync(join(folder, 'file'), '');
  assert.equal(start(join(folder, 'file')), said);
  assert.ok(!existsSync(join(folder, '.cache')));
});
