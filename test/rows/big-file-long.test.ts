import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './book-fixture.ts';

const folder = temporaryFolder();
const ROWS = 200_000;

async function writeBigFile(file: string): Promise<void> {
  const stream = createWriteStream(file);
  stream.write(`lat,lng,${Array.from({ length: 14 }, (_, i) => `c${i}`).join()}\n`);
  for (let from = 0; from < ROWS; from += 10_000) {
    const rows = Array.from(
      { length: 10_000 },
      (_, i) => `${30 + ((from + i) % 997) / 100},-100.${from + i},${'"some, text",7,'.repeat(7).slice(0, -1)}\n`,
    );
    if (!stream.write(rows.join(''))) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

test('200,000 rows are read and written within a heap of 48 MB', async () => {
  const [input, output] = [join(folder, 'big.csv'), join(folder, 'big-out.csv')];
  await writeBigFile(input);
  const script = `
    import { openRowFile } from ${JSON.stringify(new URL('../../src/rows/open-row-file.ts', import.meta.url).href)};
    const book = await openRowFile(${JSON.stringify(input)});
    let rows = 0;
    for await (const batch of book.read([0, 1])) rows += batch.length;
    const added = Array.from({ length: 54 }, (_, i) => ({ name: 'h' + i, type: 'number' }));
    let row = 0;
    const placed = {
      next: (count) => Int32Array.from({ length: count }, () => row++),
      give: async (sink, places) => {
        for (const place of places) {
          for (let i = 0; i < added.length; i++) sink.put(place + 1 + i / 8);
          sink.endPlace();
        }
      },
    };
    const written = await book.write({ output: ${JSON.stringify(output)}, dropFrom: null, added, placed });
    console.log(JSON.stringify({ rows, written }));`;
  const flags = ['--max-old-space-size=48', '--input-type=module', '--eval', script];
  const { rows, written } = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  assert.equal(rows, ROWS);
  assert.deepEqual(written, { rows: ROWS, bytes: statSync(output).size });
});
