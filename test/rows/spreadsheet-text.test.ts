import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { printable } from '../../src/base/printable.ts';
import type { Field } from '../../src/contract/answer.ts';
import { listedPlaces } from '../../src/formats/packed/output-places.ts';
import { FieldPacker } from '../../src/formats/packed/packed-fields.ts';
import { placeWriter } from '../../src/formats/packed/place-table.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { fc } from '../properties.ts';
import { LONG, times } from '../tier.ts';
import {
  allRows,
  enrich,
  fillWith,
  placedRows,
  temporaryFolder,
  writeRows,
} from './book-fixture.ts';

const folder = temporaryFolder();
const OWN = '=1+1,40.5,-@x\n+2,"=SUM(A1)",-3\n';

async function written(
  fields: readonly Field[],
  prefix = '',
): Promise<{ text: string; added: string[][] }> {
  const added = fields.map((_, index) => ({
    name: `${prefix}hazard_${index}`,
    type: 'text' as const,
  }));
  const text = await enrich(folder, `=a,lat,lng\n${OWN}`, { added, fill: fillWith(fields) });
  const rows: string[][] = parse(Buffer.from(text, 'latin1'), { relax_quotes: true });
  return { text, added: rows.map((row) => row.slice(3)) };
}

test('a text that a spreadsheet would take for a formula gets an apostrophe, a number or an ordinary text none', async () => {
  const ascii = ['=1+1', '+x', '-x', '@SUM(A1)', '\tx', '\nx', '-1+2', '+', '-', '='];
  const formulas = [...ascii, '＝1', '－x', `=${'x'.repeat(200)}`];
  const numbers = ['-5', '+3.25', '-0.5', '-.5', '-1e-7'];
  const others = [...numbers, 'x=1', ' =1', "'=1", 'Very High', '2026-03-15T12:00:00.000Z', 'µg'];
  const expected = [...formulas.map((text) => `'${text}`), ...others];
  assert.deepEqual((await written([...formulas, ...others])).added.slice(1), [expected, expected]);
});

test('the columns of the input stay byte for byte, and so do the names of the new ones', async () => {
  const { text } = await written(['=1'], '-');
  assert.equal(text, '=a,lat,lng,-hazard_0\n=1+1,40.5,-@x,\'=1\n+2,"=SUM(A1)",-3,\'=1\n');
});

test('of another format a CSV file has only what is added made harmless, and a format with types nothing', async () => {
  const input = join(folder, 'in.ndjson');
  writeFileSync(input, '{"a":"=1+1","lat":40.5,"lng":-99}\n');
  const added = [{ name: 'rating', type: 'text' as const }];
  for (const [to, expected] of [
    ['csv', "a,lat,lng,rating\n=1+1,40.5,-99,'=cmd\n"],
    ['ndjson', '{"a":"=1+1","lat":40.5,"lng":-99,"rating":"=cmd"}\n'],
  ]) {
    const output = join(folder, `out.${to}`);
    await writeRows(await openRowFile(input), { output, added, fill: fillWith(['=cmd']) });
    assert.equal(readFileSync(output, 'utf8'), expected);
  }
});

test('control characters of the service reach no file; those of the input stay', LONG, async () => {
  const raw = 'a\u001b[2J\u0085\u202eb';
  const shown = 'a\\u001b[2J\\u0085\\u202eb';
  const added = [{ name: 'rating', type: 'text' as const }];
  const inputs = {
    csv: `name,lat\n${raw},38\n`,
    ndjson: `${JSON.stringify({ name: raw, lat: 38 })}\n`,
  };
  // As a text of its own, and as one that the store has numbered.
  const packer = new FieldPacker({ numberOf: () => 0, textOf: () => raw });
  const numbered = { ...listedPlaces(1).places, texts: [raw] };
  const writer = placeWriter(numbered.tables[0]!.table);
  const packed = packer.pack([raw]);
  writer.reserve(packed.length);
  writer.room.bytes.set(packed, writer.room.at);
  writer.end(0, packed.length);
  const ways = [
    () => placedRows(1, async () => [[raw]]),
    () => ({ next: async () => ({ numbers: Int32Array.of(0), places: numbered }) }),
  ];
  for (const [from, content] of Object.entries(inputs)) {
    for (const to of ['csv', 'ndjson', 'parquet', 'xlsx']) {
      const [input, output] = [join(folder, `control.${from}`), join(folder, `control-out.${to}`)];
      writeFileSync(input, content);
      const request = { output, dropFrom: null, added };
      for (const way of ways) {
        await (await openRowFile(input)).write({ ...request, placed: way() });
        const what = `${from} to ${to}`;
        assert.deepEqual(
          (await allRows(await openRowFile(output), [0, 2]))[0]!.fields,
          [raw, shown],
          what,
        );
        // Once more from the output, with the column kept as it is.
        const again = { ...request, output: `${output}2.${to}`, dropFrom: 2, placed: way() };
        await (await openRowFile(output)).write(again);
        assert.deepEqual(
          (await allRows(await openRowFile(again.output), [0, 2]))[0]!.fields,
          [raw, shown],
          what,
        );
      }
    }
  }
  assert.deepEqual((await written([raw, 'x\r\ny\rz'])).added[1], [shown, 'x\ny\\u000dz']);
});

test('no added text begins like a formula unless it is a number, and nothing else is changed', async () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.constantFrom('=', '+', '-', '@', '\t', '\r'), fc.string())
      .map((two) => two.join('')),
  );
  const field = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 5 }), async (fields) => {
      const [, row] = (await written(fields)).added;
      for (const [index, field] of fields.entries()) {
        const got = row![index]!;
        if (field === null) assert.equal(got, '');
        else if (typeof field === 'number') assert.equal(Number(got), field + 0);
        else {
          const isNumber = field.trim() === field && field !== '' && Number.isFinite(Number(field));
          const shown = printable(field);
          if (/^[=+\-@\t\n]/.test(shown) && !isNumber) assert.equal(got, `'${shown}`);
          else assert.equal(got, shown);
        }
      }
    }),
    { numRuns: times({ short: 15, long: 150, soak: 1_000 }) },
  );
});
