import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readFirstRows } from '../../src/rows/location/file-head.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { OpenOptions, RowPieces } from '../../src/rows/port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ADDED, allRows, fillProblems, fillWith, type RowFill, writeRows } from './book-fixture.ts';
import { locationInFile } from './location-of.ts';
import { workbook } from './xlsx-fixture.ts';

function written(t: TestContext, name: string, content: string | Buffer): string {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, content);
  return file;
}

/** The texts of the location's columns in each row; why a row is none. */
async function locationsIn(file: string, options: OpenOptions = {}): Promise<string[]> {
  const rowFile = await openRowFile(file, options);
  const { lat, lng } = await locationInFile(rowFile);
  const rows = await allRows(rowFile, [lat, lng], 2);
  return rows.map(({ fields, noLocation, problem }) => noLocation ?? problem ?? fields.join(' '));
}

/** The output, in which `#` marks the added field of each row. */
async function markedBytes(file: string): Promise<string> {
  const output = `${file}.out`;
  const rowFile = await openRowFile(file);
  await writeRows(rowFile, { output, added: ADDED.slice(0, 1), fill: fillWith(['#']) });
  return readFileSync(output, 'latin1');
}

test('empty rows, totals and lines of Markdown are no locations, and come back to the byte', async (t) => {
  const csv =
    'id,lat,lng,tiv\n1,40,-99,5\n,,,\n"", ,,\nTotal,,,"1,005"\nTotal Wine,,,5\nSumme:,,,5';
  assert.deepEqual(await locationsIn(written(t, 'in.csv', csv)), [
    '40 -99',
    'empty_row',
    'empty_row',
    'total_row',
    ' ',
    'total_row',
  ]);
  assert.ok((await markedBytes(written(t, 'in.csv', csv))).includes('\nTotal,,,"1,005",#\n'));
  const table = '| id | lat | lng |\n|---|:---:|---|\n| 1 | 40.5 | -99.5 |\n';
  assert.deepEqual(await locationsIn(written(t, 'in.md', table)), ['rule_row', ' 40.5   -99.5 ']);
});

test('totals with words beside, lines of any kind and the last line of a database are no locations', async (t) => {
  const csv = [
    'id,lat,lng,tiv',
    '====,====,====,====',
    '1,40.5,-99.5,5',
    'TOTAL (3 locations),,,18',
    'Total: 3,,,18',
    'Total (3) Wine,,,5',
    '(3 rows)',
    '3 rows in set (0.01 sec)',
    '1,234 records selected.'.replace(',', ''),
    '3 rowers',
  ];
  assert.deepEqual(await locationsIn(written(t, 'in.csv', `${csv.join('\n')}\n`)), [
    'rule_row',
    '40.5 -99.5',
    'total_row',
    'total_row',
    ' ',
    ...['count_row', 'count_row', 'count_row'],
    'The row has 1 field where the header has 4.',
  ]);
});

test('rows that are none are known in each format, also after an earlier run', async (t) => {
  const csv =
    'id,lat,lng,tiv\n1,40.5,-99.5,5\n,,,\nTotal,,,1005\nTotal Wine,,,5\n2,,,\n3,41.5,-98.5,6\n';
  const all = ['40.5 -99.5', 'empty_row', 'total_row', ' ', ' ', '41.5 -98.5'];
  const file = written(t, 'in.csv', csv);
  const added = [...ADDED.slice(0, 2), { name: 'hazard_as_of', type: 'time' } as const];
  const fill: RowFill = async (rows) =>
    (await fillProblems(rows)).map(([status, note]) => [status!, note!, null]);
  for (const format of ['csv', 'ndjson', 'parquet', 'xlsx']) {
    // An empty row of a new workbook has no cells, and is none.
    const expected = all.filter((place) => format !== 'xlsx' || place !== 'empty_row');
    const [output, again] = [`${file}.${format}`, `${file}.again.${format}`];
    await writeRows(await openRowFile(file), { output, added: [], fill: fillWith([]) });
    const rowFile = await openRowFile(output);
    await writeRows(rowFile, { output: again, added, columns: [1, 2], fill });
    assert.deepEqual(await locationsIn(output), expected, format);
    assert.deepEqual(await locationsIn(again), expected, format);
    if (rowFile.inPieces) assert.deepEqual(await placesInPieces(rowFile.inPieces), expected);
  }
});

/** Latitude and longitude of each row, or why it is none, as threads read them. */
async function placesInPieces({ pieces, reader }: RowPieces): Promise<string[]> {
  const places: string[] = [];
  for (const piece of pieces) {
    for await (const { count, rowAt } of reader!.readNumbers!(piece, [1, 2], 2)!) {
      for (let index = 0; index < count; index++) {
        const { fields, noLocation } = rowAt(index);
        places.push(noLocation ?? fields.join(' '));
      }
    }
  }
  return places;
}

test('of a wide Parquet file the columns of a location are found by names, or by all values', async (t) => {
  const width = 450;
  const names = Array.from({ length: width }, (_, column) => `c${column}`);
  const [lat, lng] = [430, 15];
  const rowOf = (place: readonly [string, string]) =>
    names.map((_, column) => (column === lat ? place[0] : column === lng ? place[1] : `${column}`));
  const rows = [
    ['40.51', '-99.52'],
    ['41.53', '-98.54'],
    ['', ''],
  ].map(([a, b]) => rowOf([a!, b!]).join(','));
  const named = names.with(lat, 'latitude').with(lng, 'longitude').with(9, 'y').with(10, 'x');
  for (const [header, found] of [
    [named, [lat, lng]],
    [names, [lat, lng]],
  ] as const) {
    const csv = written(t, 'in.csv', [header.join(','), ...rows, ''].join('\n'));
    const output = `${csv}.parquet`;
    await writeRows(await openRowFile(csv), { output, added: [], fill: fillWith([]) });
    const rowFile = await openRowFile(output);
    const decided = await locationInFile(rowFile);
    assert.deepEqual([decided.lat, decided.lng], found);
    const [first] = await readFirstRows(rowFile, 1);
    assert.deepEqual(first!.fields, rowOf(['40.51', '-99.52']));
  }
});

test('what fills up the end of a file is copied, and no row', async (t) => {
  for (const end of ['\0\0\0', '\x1a', '\x1a\r\n', '\0'.repeat(5_000)]) {
    for (const line of ['\r\n', '']) {
      if (line === '' && end.includes('\n')) continue;
      const file = written(t, 'in.csv', `lat,lng\r\n40,-99\r\n41,-98${line}${end}`);
      assert.deepEqual(await locationsIn(file), ['40 -99', '41 -98']);
      assert.equal(
        await markedBytes(file),
        `lat,lng,hazard_status\r\n40,-99,#\r\n41,-98,#${line}${end}`,
      );
    }
  }
});

test('a delimiter of several characters, or beyond ASCII, is refused with the way', async (t) => {
  for (const mark of ['¦', '§', '::', '~|~', '¬']) {
    const text = ['id,lat,lng', '1,40.5,-99.5', '2,41.5,-98.5', '']
      .join('\n')
      .replaceAll(',', mark);
    await assert.rejects(openRowFile(written(t, 'in.csv', text)), {
      code: 'INPUT_UNREADABLE',
      message: /separates its columns with ".*", which is not one ASCII character$/,
      hint: /^Write a tab there, for instance with: sed /,
    });
  }
  await assert.rejects(openRowFile(written(t, 'in.csv', 'id\x1flat\x1flng\x1e1\x1f40\x1f-99')), {
    message: /separates its records with a control character/,
    hint: /tr /,
  });
  // Marks around each field are no delimiters.
  const marked = '§id§,§lat§,§lng§\n§1§,§40.5§,§-99.5§\n§2§,§41.5§,§-98.5§\n';
  const { columns } = await openRowFile(written(t, 'in.csv', marked));
  assert.deepEqual(columns, ['§id§', '§lat§', '§lng§']);
  const degrees = 'id,Latitude (°),Longitude (°)\n1,40°,-99°\n2,41°,-98°\n';
  assert.deepEqual(await locationsIn(written(t, 'in.csv', degrees)), ['40° -99°', '41° -98°']);
});

test("Concordance's thorns are quotes, and \\N of databases is empty", async (t) => {
  const thorns = ['id', 'lat', 'lng'].map((name) => `þ${name}þ`).join('\x14');
  const row = ['1', '40.5', '-99.5'].map((text) => `þ${text}þ`).join('\x14');
  const file = written(t, 'in.dat', `${thorns}\r\n${row}\r\n`);
  assert.deepEqual(await locationsIn(file), ['40.5 -99.5']);
  const dump = written(t, 'in.tsv', 'id\tlat\tlng\n1\t40.5\t-99.5\n\\N\t\\N\t\\N\n');
  assert.deepEqual(await locationsIn(dump), ['40.5 -99.5', 'empty_row']);
});

test('letters of East Asia and of old Macs are read by the encoding that is named', async (t) => {
  const japanese = Buffer.from('id,\x88\xdc\x93x,\x8co\x93x\n\x95\\,40.5,-99.5\n', 'latin1');
  const file = written(t, 'in.csv', japanese);
  const named = await openRowFile(file, { encoding: 'shift_jis' });
  assert.deepEqual(named.columns, ['id', '緯度', '経度']);
  assert.equal((await allRows(named, [0]))[0]!.fields[0], '表');
  const guessed = await openRowFile(file);
  assert.match(guessed.conversionNote ?? '', /was read as windows-1252.*--encoding shift_jis/);
  const mac = await openRowFile(written(t, 'in.csv', Buffer.from('n,a\ncaf\x8e,1\n', 'latin1')), {
    encoding: 'macintosh',
  });
  assert.equal((await allRows(mac, [0]))[0]!.fields[0], 'café');
});

test('JSON that is not UTF-8 keeps its bytes, and is read by the encoding that is named', async (t) => {
  const point = '"geometry":{"type":"Point","coordinates":[-99.5,40.5]}';
  const [ndjson, json, geojson, topojson] = [
    '{"n":"caf\xe9","lat":40.5,"lng":-99.5}\n{"n":"x","lat":41.5,"lng":-98.5}\n',
    '[{"n":"caf\xe9","lat":40.5,"lng":-99.5},{"n":"x","lat":41.5,"lng":-98.5}]',
    `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":"caf\xe9"},${point}}]}`,
    '{"type":"Topology","objects":{"a":{"type":"Point","coordinates":[-99.5,40.5],"properties":{"n":"caf\xe9"}}},"arcs":[]}',
  ];
  for (const [name, text] of Object.entries({ ndjson, json, geojson, topojson })) {
    const file = written(t, `in.${name}`, Buffer.from(text, 'latin1'));
    const letterOf = async (options: OpenOptions = {}) => {
      const rowFile = await openRowFile(file, options);
      const [first] = await allRows(rowFile, [rowFile.columns.indexOf('n')]);
      return [first!.fields[0], rowFile.conversionNote ?? null] as const;
    };
    const [guessed, note] = await letterOf();
    assert.equal(guessed, 'café');
    assert.match(note ?? '', /was read as windows-1252/);
    assert.deepEqual(await letterOf({ encoding: 'macintosh' }), ['cafÈ', null]);
    const output = `${file}.out`;
    await writeRows(await openRowFile(file), { output, fill: fillWith(['ok', 'µ', 1.5]) });
    const bytes = readFileSync(output, 'latin1');
    const added = /,"hazard_status":"ok","hazard_note":"\\u00b5","hail_score":1.5/g;
    assert.equal(bytes.replaceAll(added, ''), text);
    await assert.rejects(openRowFile(file, { encoding: 'shift_jis' }), {
      code: 'INPUT_UNREADABLE',
      hint: /iconv -f shift_jis -t UTF-8/,
    });
  }
});

test('an encoding is refused for a format that states its own', async (t) => {
  const file = written(t, 'in.csv', 'lat,lng\n40.5,-99.5\n');
  for (const format of ['xlsx', 'parquet']) {
    const output = `${file}.${format}`;
    await writeRows(await openRowFile(file), { output, added: [], fill: fillWith([]) });
    await assert.rejects(openRowFile(output, { encoding: 'windows-1252' }), {
      code: 'USAGE',
      message: /^An encoding is given, and .* is (?:Excel|Parquet), which states its own$/,
    });
  }
});

test('in a workbook, a name merged down and a place merged over rows count for all', async (t) => {
  const cell = (ref: string, text: string) =>
    text === '' ? '' : `<c r="${ref}" t="str"><v>${text}</v></c>`;
  const rows = [
    ['Site', 'Place', ''],
    ['', 'lat', 'lng'],
    ['a', '40.5', '-99.5'],
    ['b', '', ''],
    ['c', '41.5', '-98.5'],
    ['d', '', ''],
  ];
  const xml = rows
    .map(
      (texts, i) =>
        `<row r="${i + 1}">${texts.map((text, at) => cell(`${'ABC'[at]}${i + 1}`, text)).join('')}</row>`,
    )
    .join('');
  const merged = ['A1:A2', 'B1:C1', 'B3:B4', 'C3:C4'].map((ref) => `<mergeCell ref="${ref}"/>`);
  const after = `<mergeCells count="4">${merged.join('')}</mergeCells>`;
  const file = written(t, 'in.xlsx', workbook([{ name: 'S', rows: xml, after }]));
  const rowFile = await openRowFile(file, { headerLine: 2 });
  assert.deepEqual(rowFile.columns, ['Site', 'lat', 'lng']);
  assert.deepEqual(await locationsIn(file, { headerLine: 2 }), [
    '40.5 -99.5',
    '40.5 -99.5',
    '41.5 -98.5',
    ' ',
  ]);
});

test('in a workbook, a name merged down beyond the header row and its rows is a name', async (t) => {
  const cell = (ref: string, text: string) => `<c r="${ref}" t="str"><v>${text}</v></c>`;
  const xml = `<row r="1">${cell('C1', 'Site')}</row><row r="2">${cell('A2', 'lat')}${cell('B2', 'lng')}</row><row r="3">${cell('A3', '40.5')}${cell('B3', '-99.5')}</row>`;
  const after =
    '<mergeCells count="2"><mergeCell ref="B3:B4"/><mergeCell ref="C1:C2"/></mergeCells>';
  const file = written(t, 'in.xlsx', workbook([{ name: 'S', rows: xml, after }]));
  const { columns } = await openRowFile(file, { headerLine: 2 });
  assert.deepEqual(columns, ['lat', 'lng', 'Site']);
});

test('JSON: numbers as texts in GeoJSON, wrapped numbers; tables by columns are named', async (t) => {
  const feature = {
    type: 'Feature',
    properties: {},
    geometry: { type: 'Point', coordinates: ['-99.5', '40.5'] },
  };
  const collection = JSON.stringify({ type: 'FeatureCollection', features: [feature] });
  assert.deepEqual(await locationsIn(written(t, 'in.geojson', collection)), ['40.5 -99.5']);
  const item = JSON.stringify({ Item: { lat: { N: '40.5' }, lng: { N: '-99.5' } } });
  assert.deepEqual(await locationsIn(written(t, 'in.ndjson', `${item}\n${item}\n`)), [
    '40.5 -99.5',
    '40.5 -99.5',
  ]);
  for (const [content, message] of [
    ['{"lat":{"0":40.5,"1":41.5},"lng":{"0":-99.5,"1":-98.5}}', /by columns, as pandas writes it/],
    ['{"type":"Topology","objects":{"a":{"type":"Point"}}}', /is TopoJSON that is damaged/],
  ] as const) {
    await assert.rejects(openRowFile(written(t, 'in.json', content)), {
      code: 'INPUT_UNREADABLE',
      message,
    });
  }
});
