import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { ROOT } from '../cli/command-line.ts';
import { provideLocalData, provideSampleData } from '../sample-database.ts';
import { openScene } from './library-scene.ts';

/** The programs of the document, each with what it prints. */
function examples(): { readonly program: string; readonly printed: string }[] {
  const document = readFileSync(join(ROOT, 'docs/developer/library.md'), 'utf8');
  return [...document.matchAll(/^```ts\n(.*?)^```\n\n```text\n(.*?)^```$/gms)].map(
    ([, program, printed]) => ({
      program: program!,
      printed: printed!,
    }),
  );
}

test('the programs in docs/developer/library.md print what it says', async (t) => {
  const { folder, url, secret, charged } = await openScene(t);
  provideSampleData(join(folder, 'answers.db'));
  provideLocalData(join(folder, '.local/share'));
  writeFileSync(
    join(folder, 'portfolio.csv'),
    'id,lat,lng\n1,34.05,-118.24\n2,40.71,-74.01\n3,29.76,-95.37\n',
  );
  const found = examples();
  assert.ok(found.length >= 5);
  const library = new URL('../../src/index.ts', import.meta.url).href;
  const names = found.map(({ program }, index) => {
    const own = program
      .replaceAll("from 'perilbook'", `from '${library}'`)
      .replaceAll('https://api.example.com', url);
    writeFileSync(join(folder, `${index}.mts`), own);
    return `./${index}.mts`;
  });
  // One process, since each takes half a second to start.
  const imports = names.map((name) => `console.log('--');\nawait import('${name}');\n`);
  writeFileSync(join(folder, 'all.mts'), imports.join(''));
  const child = spawn(process.execPath, ['all.mts'], {
    cwd: folder,
    env: { ...process.env, HOME: folder, HAZARD_KEY: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.deepEqual(
    // Unlike the service of the document, ours states its data.
    printed
      .replaceAll(/service's data: .*/g, 'null')
      .split('--\n')
      .slice(1),
    found.map((example) => example.printed),
  );
  assert.deepEqual([code, charged()], [0, 3]);
});
