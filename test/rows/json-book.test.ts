import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { fc } from '../properties.ts';
import { noRealData, realFile } from '../real-data.ts';
import { LONG } from '../tier.ts';
import {
  ADDED,
  allRows,
  fillWith,
  type RowRequest,
  temporaryFolder,
  writeRows,
} from './book-fixture.ts';
import { locationByNames, locationInFile } from './location-of.ts';

const folder = temporaryFolder();
const FIELDS = ['ok', 'µ "x"', 1.5];
const POINTS = ['geometry.latitude', 'geometry.longitude'];
const MEMBERS = '"hazard_status":"ok","hazard_note":"µ \\"x\\"","hail_score":1.5';

async function enrichJson(
  content: string,
  request: Partial<RowRequest> = {},
  format = 'ndjson',
): Promise<string> {
  const [file, output] = [join(folder, `in.${format}`), join(folder, `out.${format}`)];
  writeFileSync(file, content);
  const book = await openRowFile(file);
  assert.equal(book.format, format);
  await writeRows(book, { output, fill: fillWith(FIELDS), ...request });
  return readFileSync(output, 'utf8');
}

/** Checks that an output is the same when it is enriched again. */
async function assertSameAgain(output: string, format = 'ndjson'): Promise<void> {
  const { columns } = await openRowFile(join(folder, `out.${format}`));
  const dropFrom = columns.indexOf('hazard_status');
  assert.ok(columns.slice(dropFrom).every((name) => ADDED.some((column) => column.name === name)));
  assert.equal(await enrichJson(output, { dropFrom }, format), output);
}

test('each line keeps its bytes and gets its members before the closing brace, if it is an object', async () => {
  const source =
    '\ufeff{"id": 1.0,  "big":12345678901234567890, "a":{"b":[1,{"}":"\\"}"}]} }\r\n\n  {}\n[1]\n{"id":2}';
  const expected = `\ufeff{"id": 1.0,  "big":12345678901234567890, "a":{"b":[1,{"}":"\\"}"}]},${MEMBERS} }\r\n\n  {${MEMBERS}}\n[1]\n{"id":2,${MEMBERS}}`;
  assert.equal(await enrichJson(source), expected);
  // A reader that guesses types from the first lines must not take the column for whole numbers.
  const whole = await enrichJson('{"id":2}', { fill: fillWith(['ok', '', 5]) });
  assert.equal(whole, '{"id":2,"hazard_status":"ok","hazard_note":"","hail_score":5.0}');
});

test('each element of an array keeps its bytes and those around it, and is a row', async () => {
  const source =
    '\ufeff [\n  {"id": 1.50, "lat": 34.05, "t": "a],{\\"b"} ,\r\n\t{"lat":25.77,"x":[1,{"y":2}]}\n , 7, {"id":3}]\n\n';
  const expected = source.replaceAll(/"\}(?= )|\}(?=\n)|3\}/g, (end) =>
    end.replace('}', `,${MEMBERS}}`),
  );
  const output = await enrichJson(source, {}, 'json');
  assert.equal(output, expected);
  await assertSameAgain(output, 'json');
  const rows = await allRows(await openRowFile(join(folder, 'in.json')), [0, 1]);
  const told = rows.map(({ fields, problem }) => `${fields} ${problem}`);
  const odd = ', The element is not a JSON object.';
  assert.deepEqual(told, ['1.5,34.05 undefined', ',25.77 undefined', odd, '3, undefined']);
});

test('an array that cannot be read is refused, wherever it is broken', async () => {
  const one = '{"lat":34.05}';
  for (const [text, message] of [
    [`[${one},${one}`, /not closed/],
    [`[${one} ${one}]`, /cannot be read/],
    [`[${one}] x`, /more after its JSON array/],
    [`[${one}]${' '.repeat(18 * 2 ** 20)}\n,${one}]`, /more after its JSON array/],
    [`[${one},${one.slice(0, 9)}`, /not closed/],
  ] as const) {
    await assert.rejects(
      enrichJson(text, {}, 'json'),
      { code: 'INPUT_UNREADABLE', message },
      text.slice(0, 60),
    );
  }
});

const ROW = '{"id":1,"lat":25.7,"lng":-80.1}';
const OTHER = '{"id":2,\n "lat":39.7,\r\n "lng":-104.9 }';

/** Documents with the two rows at ROW and OTHER. */
const DOCUMENTS: readonly string[] = [
  '{"count":2,"results":[ROW, OTHER]}',
  '\ufeff{\n "data" : [\n ROW,\n OTHER\n ],\n "next": null, "tags":["a"]\n}\n',
  '{"response":{"n":2,"docs":[ROW,OTHER]},"status":"ok"}',
  '{"fields":[{"name":"id"}],"rows":[ROW,OTHER]}',
  'ROW\nOTHER\n',
  'ROWOTHER',
  ' OTHER \n\n ROW ',
];

test('objects in a document, or one after the other, are rows, and all around them stays', async () => {
  for (const document of DOCUMENTS) {
    const source = document.replace('ROW', ROW.replace(',', ',\n')).replace('OTHER', OTHER);
    const output = await enrichJson(source, {}, 'json');
    assert.equal(output.replaceAll(`,${MEMBERS}`, ''), source, document);
    assert.equal(output.split(MEMBERS).length, 3, document);
    const rows = await allRows(await openRowFile(join(folder, 'in.json')), [0]);
    assert.deepEqual(
      rows
        .map(({ fields, line }) => [line, fields[0]])
        .sort()
        .flat(),
      [1, rows[0]!.fields[0], 2, rows[1]!.fields[0]],
    );
    await assertSameAgain(output, 'json');
  }
});

test("the features of Esri's JSON are rows, outlines too", async () => {
  const ring = '[[-99.5,40],[-99.5,40.002],[-99.498,40.002],[-99.498,40],[-99.5,40]]';
  const file = join(folder, 'in.json');
  writeFileSync(
    file,
    `{"geometryType":"esriGeometryPolygon","fields":[{"name":"id","type":"esriFieldTypeOID"}],
      "features":[{"attributes":{"id":7},"geometry":{"rings":[${ring}]}}]}`,
  );
  const rowFile = await openRowFile(file);
  assert.deepEqual(rowFile.columns.slice(0, 3), ['attributes', 'attributes.id', 'geometry']);
  const { lat, lng } = await locationInFile(rowFile);
  assert.deepEqual([lat, lng], [2, 2]);
});

test('a row with a list in it is a row, and a document that is cut off or has several lists is refused', async () => {
  await enrichJson('{"lat":25.7,"lng":-80.1,"claims":[{"lat":1,"lng":2}]}');
  const refused: readonly (readonly [text: string, message: RegExp])[] = [
    [`{"results":[${ROW}]`, /damaged or cut off after its JSON array/],
    [`{\n"results":[${ROW}`, /not closed/],
    [`{\n"a":[${ROW}],"b":[${ROW}]}`, /JSON that is not rows/],
    ['{"id":[1,2],"lat":[25.7,39.7],"lng":[-80.1,-104.9]}', /JSON that is not rows/],
    [`{"a":${ROW},"b":${ROW}}`, /JSON that is not rows/],
    ['{"columns":["lat","lng"],"data":[[25.7,-80.1]]}', /JSON that is not rows/],
    [`${OTHER}\n${OTHER.slice(0, 20)}`, /not closed/],
    [`${OTHER}\n,${ROW}`, /JSON that is not rows/],
    ['[1,25.7,-80.1]\n[2,39.7,-104.9]\n', /an array on each line/],
    ['[[1,25.7,-80.1],\n[2,39.7,-104.9]]', /rows are arrays/],
  ];
  for (const [text, message] of refused)
    await assert.rejects(enrichJson(text, {}, 'json'), { code: 'INPUT_UNREADABLE', message }, text);
});

test('rows say their line, and members of objects can be the location', async () => {
  const file = join(folder, 'rows.ndjson');
  writeFileSync(
    file,
    '{"id":12345678901234567890,"place":{"lat":30.5,"lng":-90}}\n\n{"id":"x"}\nnot json\n',
  );
  const book = await openRowFile(file);
  assert.deepEqual(book.columns, ['id', 'place', 'place.lat', 'place.lng']);
  const { lat, lng } = locationByNames(book.columns);
  assert.deepEqual(await allRows(book, [lat, lng, 0, 1]), [
    {
      number: 1,
      line: 1,
      fields: ['30.5', '-90', '12345678901234567890', '{"lat":30.5,"lng":-90}'],
    },
    { number: 2, line: 3, fields: ['', '', 'x', ''] },
    { number: 3, line: 4, fields: ['', '', '', ''], problem: 'The line is not a JSON object.' },
  ]);
});

const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string());
const object = fc.dictionary(fc.string(), value, { maxKeys: 5 }).map((made) => ({ ...made, k: 1 }));

test(
  'the members are there, all others are as they were, and writing again gives the same',
  LONG,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(object, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(0, 2),
        fc.boolean(),
        async (objects, indent, isArray) => {
          const lines = objects.map((made) =>
            JSON.stringify(made, null, indent).replaceAll('\n', ' '),
          );
          if (isArray) {
            const array = await enrichJson(`[${lines.join(' ,\n')}]`, {}, 'json');
            assert.equal(
              array.replaceAll(/,"hazard_status":"ok"[^}]*?1\.5(?= ?\})/g, ''),
              `[${lines.join(' ,\n')}]`,
            );
          }
          const output = await enrichJson(`${lines.join('\n')}\n`);
          const added = { hazard_status: 'ok', hazard_note: FIELDS[1], hail_score: 1.5 };
          const expected = objects.map((made) => ({ ...made, ...added }));
          const written = output.trimEnd().split('\n');
          const read = written.map((line) => JSON.parse(line));
          assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(expected)));
          await assertSameAgain(output);
        },
      ),
      { numRuns: 100 },
    );
  },
);

test('a member that an object has from its language is no member of a row', async () => {
  const file = join(folder, 'inherited.ndjson');
  writeFileSync(
    file,
    '{"lat":1,"constructor":"Ann","place":{"valueOf":5}}\n{"lat":2,"place":{}}\n',
  );
  const book = await openRowFile(file);
  assert.deepEqual(book.columns, ['lat', 'constructor', 'place', 'place.valueOf']);
  const fields = (await allRows(book, [1, 3])).map((row) => row.fields);
  assert.deepEqual(fields, [
    ['Ann', '5'],
    ['', ''],
  ]);
});

test('members that are dropped are dropped wherever they stand', async () => {
  const source =
    '{"k":1,"hazard_status":"old","hazard_note":null,"hail_score":2}\n{"hazard_status":"old","k":2}\n{"hazard_note":1}\n';
  const expected = `{"k":1,${MEMBERS}}\n{"k":2,${MEMBERS}}\n{${MEMBERS}}\n`;
  assert.equal(await enrichJson(source, { dropFrom: 1 }), expected);
});

test('a file of many lines or elements is read in windows', LONG, async () => {
  const lines = Array.from(
    { length: 30_000 },
    (_, i) => `{"id":${i},"text":"${'x'.repeat(i % 300)}"}`,
  );
  lines[500] = `{"id":500,"text":"${'y'.repeat(3_000_000)}"}`;
  const output = await enrichJson(`${lines.join('\n')}\n`);
  const expected = lines.map((line) => line.replace(/\}$/, `,${MEMBERS}}`));
  assert.equal(output, `${expected.join('\n')}\n`);
  assert.equal(await enrichJson(`[${lines.join(',\n')}]`, {}, 'json'), `[${expected.join(',\n')}]`);
});

test('a line that holds a FeatureCollection is a line', async () => {
  const line = '{"k":1,"shape":{"type":"FeatureCollection","features":[]}}';
  assert.equal(
    await enrichJson(`${line}\n${line}\n`),
    `${line.replace(/\}$/, `,${MEMBERS}}`)}\n`.repeat(2),
  );
});

test('a member of our name that comes late is not hidden behind ours', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `{"id":${i},"pad":"${'x'.repeat(60)}"}`);
  const source = [...lines, '{"id":-1,"hail_score":"mine"}'].join('\n');
  await assert.rejects(enrichJson(source), {
    code: 'INPUT_COLUMNS',
    message: /hail_score on line 20001/,
  });
});

const SOURCE = `{ "type": "FeatureCollection", "name": "x",
"features": [
  {"type":"Feature","properties":{"id": 1.0},"geometry":{"type":"Point","coordinates":[-90.5, 30.25, 7]}},
  {"type":"Feature","properties":null,"geometry":null},
  {"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}
] }
`;

test('features are rows, and their properties get the new members', async () => {
  const expected = SOURCE.replace('{"id": 1.0}', `{"id": 1.0,${MEMBERS}}`)
    .replace('"properties":null', `"properties":{${MEMBERS}}`)
    .replace('[3,4]]}}', `[3,4]]},"properties":{${MEMBERS}}}`);
  assert.equal(await enrichJson(SOURCE, {}, 'geojson'), expected);
  const book = await openRowFile(join(folder, 'in.geojson'));
  assert.deepEqual(book.columns, ['geometry.latitude', 'geometry.longitude', 'id']);
  assert.deepEqual(locationByNames(book.columns), { lat: 0, lng: 1, note: null });
  assert.deepEqual(await allRows(book, [0, 1, 2]), [
    { number: 1, line: 1, fields: ['30.25', '-90.5', '1'] },
    { number: 2, line: 2, fields: ['', '', ''], noLocation: 'empty_row' },
    {
      number: 3,
      line: 3,
      fields: ['', '', ''],
      problem: 'The geometry is a LineString, not a Point.',
    },
  ]);
  await assertSameAgain(expected, 'geojson');
});

test('GeoJSON that is cut off or damaged is refused', async () => {
  const [cut, damaged] = [SOURCE.slice(0, 200), SOURCE.replace('null,"geo', 'nul,"geo')];
  for (const text of [
    cut,
    damaged,
    SOURCE.slice(0, -5),
    `${SOURCE}x`,
    `${feature(1)}\n${feature(2).slice(0, -9)}\n`,
  ]) {
    const refusal = { code: 'INPUT_UNREADABLE', message: /damaged or cut off/ };
    await assert.rejects(enrichJson(text, {}, 'geojson'), refusal);
  }
});

test('real points come back with all their bytes', { skip: noRealData }, async () => {
  for (const [name, count] of [
    ['quakes/earthquakes.geojson', 6107],
    ['sites/nuclear_power_plants.geojson', 55],
    ['sites/seattle_parks.geojson', 1514],
  ] as const) {
    const [file, output] = [realFile(name), join(folder, 'real.geojson')];
    const result = await writeRows(await openRowFile(file), { output, fill: fillWith(FIELDS) });
    assert.equal(result.rows, count);
    assert.equal(
      readFileSync(output, 'utf8').replaceAll(`,${MEMBERS}`, ''),
      readFileSync(file, 'utf8'),
    );
  }
});

test('the id of a feature goes into a table, and stays where it is in GeoJSON', async () => {
  const point = '"geometry":{"type":"Point","coordinates":[-90.5,30.25]}';
  const features = [
    `{"type":"Feature","id":"a",${point},"properties":{"id":1}}`,
    `{"type":"Feature",${point}}`,
  ];
  const output = await enrichJson(
    `{"type":"FeatureCollection","features":[${features.join(',')}]}`,
    {},
    'geojson',
  );
  const table = join(folder, 'ids.csv');
  await writeRows(await openRowFile(join(folder, 'in.geojson')), { output: table });
  const lines = readFileSync(table, 'utf8').trimEnd().split('\n');
  assert.deepEqual(lines, [
    'geometry.latitude,geometry.longitude,feature.id,id,hazard_status,hazard_note,hail_score',
    '30.25,-90.5,a,1,ok,,1.5',
    '30.25,-90.5,,,ok,,1.5',
  ]);
  await assertSameAgain(output, 'geojson');
});

const feature = (id: number) =>
  `{"type":"Feature","properties":{"id":${id}},"geometry":{"type":"Point","coordinates":[-9${id},4${id}]}}`;

test('degrees of the makers stand before those of the geometries in a table, and another coordinate system is named', async () => {
  const collection = (crs: string, name = 'crs') =>
    `{"type":"FeatureCollection","${name}":{"type":"name","properties":{"name":"${crs}"}},"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-90.5,30.25]},"properties":{"lat":30.2512,"lng":-90.5012}}]}`;
  const opened = async (text: string) => {
    writeFileSync(join(folder, 'crs.geojson'), text);
    return await openRowFile(join(folder, 'crs.geojson'));
  };
  const table = join(folder, 'degrees.csv');
  await writeRows(await opened(collection('urn:ogc:def:crs:OGC:1.3:CRS84')), { output: table });
  assert.match(
    readFileSync(table, 'utf8'),
    /^lat,lng,geometry\.latitude,geometry\.longitude,.*\n30\.2512,-90\.5012,30\.25,-90\.5,/,
  );
  for (const degrees of [
    'urn:ogc:def:crs:OGC:1.3:CRS84',
    'urn:ogc:def:crs:EPSG::4326',
    'EPSG:4269',
  ]) {
    assert.equal((await opened(collection(degrees))).note, null, degrees);
  }
  for (const metres of ['urn:ogc:def:crs:EPSG::3857', 'EPSG:26915']) {
    assert.match(
      (await opened(collection(metres))).note!,
      new RegExp(`coordinates are in ${metres} \\(crs\\)`),
    );
  }
  assert.equal((await opened(collection('EPSG:3857', 'other'))).note, null);
});

test('an empty collection, a single feature, and features one after the other are rows too', async () => {
  const pretty = (id: number, indent: number) =>
    JSON.stringify(JSON.parse(feature(id)), null, indent);
  for (const [content, ids] of [
    ['{"type":"FeatureCollection","features":[]}', []],
    [feature(1), ['1']],
    [`\ufeff${pretty(1, 2)}\n`, ['1']],
    [`${feature(1)}\n${feature(2)}\n\n`, ['1', '2']],
    [`\x1e${feature(1)}\n\x1e${pretty(2, 1)}\n`, ['1', '2']],
  ] as const) {
    const output = await enrichJson(content, {}, 'geojson');
    const book = await openRowFile(join(folder, 'in.geojson'));
    assert.equal(book.unit, 'feature');
    assert.equal(locationByNames(book.columns).lat, 0);
    const rows = await allRows(book, [0, 1, ...(ids.length > 0 ? [2] : [])]);
    const told = rows.map(({ line, fields }) => `${line} ${fields}`);
    const expected = ids.map((id) => `${id} 4${id},-9${id},${id}`);
    assert.deepEqual(told, expected);
    const isPretty = /\n +"/.test(content);
    if (!isPretty) assert.equal(output, content.replaceAll(/("id":\d)/g, `$1,${MEMBERS}`));
    assert.equal(
      (await allRows(await openRowFile(join(folder, 'out.geojson')), [])).length,
      ids.length,
    );
  }
});

/** Two parcels of 100 m that share a line, a point and a line, in steps of a thousandth of a degree. */
const TOPOLOGY = `\ufeff{ "type":"Topology","transform":{"scale":[0.001,0.001],"translate":[-100,40]},
 "objects":{"parcels":{"type":"GeometryCollection","geometries":[
  {"type":"Polygon","id":7,"arcs":[[0,1]],"properties":{"name":"west", "n":1.50}} ,
  {"type":"Polygon","arcs":[[-1,2]]},
  {"type":null,"properties":{"name":"none"}},
  {"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[500,500],"properties":{}}]},
  {"type":"Polygon","arcs":[[9]]}]},
  "road":{"type":"LineString","arcs":[0]}},
 "arcs":[[[1,0],[0,1]],[[1,1],[-1,0],[0,-1],[1,0]],[[1,0],[1,0],[0,1],[-1,0]]]}`;

test('TopoJSON: each geometry of its objects is a row, at a point inside its outline', async () => {
  const output = await enrichJson(TOPOLOGY, {}, 'topojson');
  const expected = TOPOLOGY.replace('1.50}', `1.50,${MEMBERS}}`)
    .replace('[[-1,2]]', `[[-1,2]],"properties":{${MEMBERS}}`)
    .replace('"none"}', `"none",${MEMBERS}}`)
    .replace('"properties":{}', `"properties":{${MEMBERS}}`)
    .replace('[[9]]', `[[9]],"properties":{${MEMBERS}}`)
    .replace('"LineString","arcs":[0]', (all) => `${all},"properties":{${MEMBERS}}`);
  assert.equal(output, expected);
  await assertSameAgain(output, 'topojson');
  writeFileSync(join(folder, 'in.topojson'), TOPOLOGY);
  const rowFile = await openRowFile(join(folder, 'in.topojson'));
  assert.deepEqual(rowFile.columns, [...POINTS, 'feature.id', 'name', 'n']);
  const inside = 'Looked up at a point inside its outline.';
  const rows = await allRows(rowFile, [0, 1, 2, 3]);
  assert.deepEqual(
    rows.map(({ fields, problem, remark }) => [...fields, problem ?? remark]),
    [
      ['40.0005', '-99.9995', '7', 'west', inside],
      ['40.0005', '-99.9985', '', '', inside],
      ['', '', '', 'none', undefined],
      ['40.5', '-99.5', '', '', undefined],
      ['', '', '', '', 'The geometry is a damaged geometry, not a Point.'],
      ['', '', '', '', 'The geometry is a LineString, not a Point.'],
    ],
  );
});

test('TopoJSON becomes a table, and is refused where it is cut off', async () => {
  const [file, output] = [join(folder, 'in.json'), join(folder, 'out.csv')];
  writeFileSync(file, TOPOLOGY);
  await writeRows(await openRowFile(file), { output, fill: fillWith(FIELDS) });
  const lines = readFileSync(output, 'utf8').trim().split('\n');
  assert.deepEqual(
    [lines[0], lines[1], lines.length],
    [
      'geometry.latitude,geometry.longitude,feature.id,name,n,hazard_status,hazard_note,hail_score',
      '40.0005,-99.9995,7,west,1.5,ok,"µ ""x""",1.5',
      7,
    ],
  );
  writeFileSync(file, TOPOLOGY.slice(0, -2));
  await assert.rejects(openRowFile(file), {
    code: 'INPUT_UNREADABLE',
    message: /is TopoJSON that is damaged or cut off$/,
  });
});
