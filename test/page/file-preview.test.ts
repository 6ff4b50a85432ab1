import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { previewFile } from '../../src/page/files/file-preview.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function preview(t: TestContext, name: string, text: string) {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, text);
  return previewFile({ path, name } as Parameters<typeof previewFile>[0]);
}

for (const [name, text, message] of [
  ['job.yaml', 'input: portfolio.csv\ntopics: natural\n', /^job\.yaml is a job file, not a list of locations$/],
  ['hostname', 'a1b2c3d4\n', /^hostname is not a table: its first line has one column$/],
  ['notes.txt', 'Call Ann.\nCall Bob.\n', /^notes\.txt is not a table: its first line has one column$/],
] as const) {
  test(`${name} is refused: it is no table with one column`, async (t) => {
    await assert.rejects(preview(t, name, text), { code: 'INPUT_UNREADABLE', message });
  });
}

test('a column of prices or assessed values is a column of values', async (t) => {
  const orderOf = async (columns: string) =>
    (await preview(t, 'book.csv', `${columns}\n${columns.replace(/[^,]+/g, '1')}\n`)).order;
  for (const name of [
    'price',
    'sale_price',
    'SalePrice',
    'List Price',
    'assessed_value',
    'AssessedValue',
    'market_value_2024',
  ]) {
    assert.equal(await orderOf(`id,lat,lng,${name}`), 3, name);
  }
  for (const name of ['price_per_sqft', 'price_category', 'assessor', 'unit']) {
    assert.equal(await orderOf(`id,lat,lng,${name}`), null, name);
  }
  assert.equal(await orderOf('id,lat,lng,price,insured_value'), 4, 'what is insured comes first');
});
