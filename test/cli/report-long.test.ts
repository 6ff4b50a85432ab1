import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, wordsIn } from './command-line.ts';

const BOOK = 'id,name,lat,lng,BuildingTIV\n1,Tower,34.0522,-118.2437,100\n2,Shed,29.7604,-95.3698,50\n3,Nowhere,,,1\n';

test('the report over part files: the same figures as over one file, lines with their part', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const [header, ...rows] = BOOK.trimEnd().split('\n') as [string, ...string[]];
  mkdirSync(join(folder, 'parts'));
  for (const [index, row] of rows.entries()) {
    writeFileSync(join(folder, 'parts', `${index + 1}.csv`), `${header}\n${row}\n`);
  }
  writeFileSync(join(folder, 'book.csv'), BOOK);
  const words = wordsIn('-t hail,wildfire,park --service sample --store store.db --order-by tiv --max-invalid 50%');
  const ran = await perilbook(['run', 'parts', ...words, '-o', 'out', '--yes', '--report', 'parts.html'], { folder });
  assert.equal(ran.code, 0, ran.stderr);
  const reported = await perilbook(['report', 'parts', ...words, '-o', 'out', '--report', 'again.html'], { folder });
  assert.equal(reported.code, 0, reported.stderr);
  const whole = await perilbook(['report', 'book.csv', ...words, '--report', 'book.html'], { folder });
  assert.equal(whole.code, 0, whole.stderr);
  const [parts, again, book] = ['parts.html', 'again.html', 'book.html'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  ) as [string, string, string];
  const section = (page: string, id: string) => new RegExp(`<section id="${id}"[\\s\\S]*?\\n</section>`).exec(page)![0];
  assert.equal(section(again, 'locations'), section(parts, 'locations'));
  for (const id of ['risk', 'hazards', 'sites']) assert.equal(section(parts, id), section(book, id), id);
  // Lines 2 to 4 of the one file are each line 2 of a part.
  assert.ok(section(book, 'quality').includes('<td class="n">1</td><td>4</td>'));
  assert.ok(section(parts, 'quality').includes('<td class="n">1</td><td>3.csv:2</td>'));
  assert.match(section(parts, 'accumulation'), /<bdi>1 · Tower<\/bdi>.*?<td class="n">1\.csv:2<\/td>/);
  const inParts = [...section(parts, 'locations').matchAll(/data-v="\d+" data-csv="(.*?)"/g)].map(([, place]) => place);
  const inBook = [...section(book, 'locations').matchAll(/data-v="\d+" data-csv="(.*?)"/g)].map(([, line]) => line);
  assert.ok(inBook.length > 0);
  assert.deepEqual(
    inParts,
    inBook.map((line) => `${Number(line) - 1}.csv:2`),
  );
});
