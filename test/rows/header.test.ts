import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { readHeader } from '../../src/rows/header.ts';
import type { NamedColumns } from '../../src/rows/location-columns.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const OWN = new Set(['hazard_status', 'hazard_note', 'hazard_as_of']);

/** The columns that are found in a file, the line that is suggested as its header, or what else is wrong. */
async function found(t: TestContext, text: string, named: NamedColumns, name = 'in.csv'): Promise<string> {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, text);
  const rowFile = await openRowFile(file);
  try {
    const { names, lat, lng, dropFrom } = readHeader(rowFile, named, OWN, name);
    return `${names[lat]} and ${names[lng]} of ${names.length}${dropFrom === null ? '' : `, dropped from ${dropFrom}`}`;
  } catch (error) {
    assert.ok(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS', String(error));
    const { message, hint, context } = error;
    const line = context.header_line;
    if (line === undefined) {
      assert.match(hint, /^(?!Line)[^ ].*[^ ]$/);
      return context.file === name && hint.includes('--no-header') ? message : 'no header';
    }
    const suggested = `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
    assert.equal(hint, [suggested, rowFile.note].filter(Boolean).join(' '));
    return `line ${line}`;
  }
}

test('the names of the columns are found, or the line that has them is suggested', async (t) => {
  for (const [text, result] of [
    ['id,lat,lng\n1,40,-99\n', 'lat and lng of 3'],
    ['id,lat,lng,hazard_status,hazard_note,hazard_as_of\n', 'lat and lng of 3, dropped from 3'],
    ['Portfolio\n\nid,lat,lng\n', 'line 3'],
    ['Portfolio,2024\nx,y z\nid,lat,lng\n', 'line 3'],
    ['Portfolio,2024\nid,city\nA1,Austin\n', 'no header'],
    ['id,city\nA1,Austin\n', 'no header'],
    ['Portfolio,,\nid,city,state\n', 'line 2'],
    ['Portfolio\nby Ann,\nid,city\n', 'line 3'],
    ['Portfolio\n12,-99.5,x\n+5,a,b\n3x,x3,c\n', 'line 4'],
  ] as const) {
    assert.equal(await found(t, text, {}), result, text);
  }
  assert.equal(await found(t, 'Portfolio\nid,B,C\n', { lat: 'B', lng: 'C' }), 'line 2');
  assert.equal(await found(t, '{"id":1,"city":"Austin"}\n', {}, 'in.ndjson'), 'no header');
});

test('a location in place of names is refused, in any notation: it would be lost', async (t) => {
  const both = { lat: '1', lng: '2' };
  const refused = (location: string) => `The first line is a location (${location}), not column names`;
  for (const [text, named, result] of [
    ['40.1,-99.9\n', both, refused('40.1, -99.9')],
    ['40,-99\n', both, refused('40, -99')],
    ["40°6'N,99°54'W\n", both, refused("40°6'N, 99°54'W")],
    ['51.5,-0.12\n', both, refused('51.5, -0.12')],
    ['48°,2°\n', both, refused('48°, 2°')],
    ['"40.1, -99.9"\n', { column: '1' }, refused('40.1, -99.9')],
    ['"40,1; -99,9"\n', { column: '1' }, refused('40,1, -99,9')],
    ['1,2,3\n', both, '1 and 2 of 3'],
    ['51,0.5\n', both, '51 and 0.5 of 2'],
    ['place\n', { column: '1' }, 'place and place of 2'],
  ] as const) {
    assert.equal(await found(t, `${text}40.2,-99.8\n`, named), result, text);
  }
});
