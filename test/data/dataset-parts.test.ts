import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeSource } from '../../src/data/download/remove-source.ts';
import { loadParts } from '../../src/data/loaders/load-files.ts';
import { SOURCES } from '../../src/data/sources/source-table.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { STATES } from '../../src/data/tables/states.ts';
import { fc } from '../properties.ts';
import { openDatabase, point, StillClock } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { SHORT, times } from '../tier.ts';
import { fileOf, geojson, loading, towers } from './loaders/loading.ts';

const clock = new StillClock();
const PARKS = SOURCES.find(({ name }) => name === 'parks')!;

/** A file of parks by their numbers; the same number is the same park, and row numbers of the server differ. */
function parks(numbers: readonly number[], firstRow: number): string {
  const features = numbers.map((number, index) => ({
    id: firstRow + index,
    properties: { OBJECTID: firstRow + index, Unit_Nm: `Park ${number}` },
    geometry: { type: 'Point', coordinates: [-72 - number / 100, 43] },
  }));
  return geojson(features);
}

const state = fc.constantFrom('VT', 'NH', 'ME');
const numbers = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 6 });
const step = fc.oneof(
  fc.record({
    load: fc.uniqueArray(fc.record({ state, numbers }), {
      selector: (one) => one.state,
      minLength: 1,
    }),
  }),
  fc.record({ remove: fc.uniqueArray(state, { minLength: 1 }) }),
);

test('whatever parts are loaded again or removed, a record is stored once and belongs to the parts that have it', async (t) => {
  const folder = temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const database = openDatabase(t, ':memory:');
      const parts = new Map<string, readonly number[]>();
      for (const [at, one] of steps.entries()) {
        if ('remove' in one) {
          removeSource(database, PARKS, folder, one.remove, clock);
          for (const name of one.remove) parts.delete(name);
        } else {
          const loaded = one.load.filter(
            (part) => part.numbers.length > 0 || parts.has(part.state),
          );
          if (loaded.length === 0) continue;
          const files = loaded.map((part) => {
            const file = join(folder, `${part.state}.geojson`);
            writeFileSync(file, parks(part.numbers, at * 100));
            return { of: part.state, files: part.numbers.length === 0 ? [] : [file], options: {} };
          });
          const effects = { clock, onRecords: () => {} };
          await loadParts(database, 'parks', files, { replace: true, askedOf: 'parks' }, effects);
          for (const part of loaded) parts.set(part.state, part.numbers);
        }
        assert.deepEqual(storedParks(database), expectedParks(parts));
        const [described] = describeData(database).datasets;
        assert.deepEqual(described?.states ?? [], [...parts.keys()].sort());
        const rowsOfParts = described?.parts.map((part) => [part.state, part.rows]) ?? [];
        assert.deepEqual(rowsOfParts, [...parts].map(([name, own]) => [name, own.length]).sort());
      }
      database.close();
    }),
    { numRuns: times({ short: 8, long: 50, soak: 1_000 }) },
  );
});

/** Park and its parts, one line each. */
function storedParks(database: ReturnType<typeof openDatabase>): string[] {
  if (describeData(database).datasets.length === 0) return [];
  return database
    .prepare<[], string>(
      "SELECT json_extract(feature, '$.properties.Unit_Nm') || ' ' || parts FROM sites_park JOIN sites_park_members USING (id)",
    )
    .pluck()
    .all()
    .sort();
}

/** A park that a part has twice is two there; of each other part it is as many as that part has. */
function expectedParks(parts: ReadonlyMap<string, readonly number[]>): string[] {
  const lines: string[] = [];
  for (let number = 0; number < 10; number++) {
    const times = [...parts].map(
      ([name, own]) => [name, own.filter((one) => one === number).length] as const,
    );
    const most = Math.max(0, ...times.map(([, count]) => count));
    for (let nth = 1; nth <= most; nth++) {
      const own = times.filter(([, count]) => count >= nth).map(([name]) => name);
      lines.push(`Park ${number} ${own.sort().join()}`);
    }
  }
  return lines.sort();
}

test(
  'a record in two files that are loaded by hand is one record, and two equal ones in one file are two',
  SHORT,
  async (t) => {
    const { database, load } = loading(t);
    const [a, b] = [
      fileOf(t, 'a.geojson', parks([1, 2, 2], 0)),
      fileOf(t, 'b.geojson', parks([2, 3], 50)),
    ];
    const result = await load('parks', [a, b], { states: ['VT', 'NH'] });
    assert.equal(result.records, 4);
    const stored = storedParks(database).map((line) => line.split(' ')[1]);
    assert.deepEqual(stored, ['1', '2', '2', '3']);
  },
);

test(
  'a record with an id of its agency is one, though it was edited between two downloads',
  SHORT,
  async (t) => {
    const database = openDatabase(t);
    const plant = (Plant_Code: number, Plant_Name: string) =>
      point(-72, 43, { Plant_Code, Plant_Name });
    const fileWith = (...plants: object[]) => fileOf(t, 'plants.geojson', geojson(plants));
    const load = (of: string, file: string) => {
      const parts = [{ of, files: [file], options: {} }];
      return loadParts(
        database,
        'power-plants',
        parts,
        { askedOf: 'power-plants' },
        { clock, onRecords: () => {} },
      );
    };
    await load('VT', fileWith(plant(1, 'Vernon'), plant(2, 'Bellows Falls')));
    await load('NH', fileWith(plant(1, 'Vernon Dam'), plant(3, 'Wilder')));
    const names = database
      .prepare("SELECT json_extract(feature, '$.properties.Plant_Name') FROM sites_powerPlant")
      .pluck();
    assert.deepEqual(names.all().sort(), ['Bellows Falls', 'Vernon Dam', 'Wilder']);
  },
);

test(
  'a source that replaces another takes the place of all its parts, however many records they have',
  SHORT,
  async (t) => {
    const database = openDatabase(t);
    const stations = (count: number) => {
      const rows = Array.from({ length: count }, (_, index) => `${index},E85,38,-78.${index}\n`);
      return fileOf(t, 'stations.csv', `ID,Fuel Type Code,Latitude,Longitude\n${rows.join('')}`);
    };
    const load = (askedOf: string, rivals: string[], counts: Readonly<Record<string, number>>) => {
      const parts = Object.entries(counts).map(([of, count]) => ({
        of,
        files: [stations(count)],
        options: {},
      }));
      return loadParts(
        database,
        'alternative-fuels',
        parts,
        { askedOf, rivals },
        { clock, onRecords: () => {} },
      );
    };
    await load('copy', [], { VA: 9, MD: 5 });
    await assert.rejects(load('agency', [], { VA: 1 }), {
      message: /VA has 9 records here and 1 in the load/,
    });
    await load('agency', ['copy'], { VA: 1 });
    const [{ parts } = { parts: [] }] = describeData(database).datasets;
    const rowsOfParts = parts.map((part) => [part.state, part.rows]);
    assert.deepEqual(rowsOfParts, [['VA', 1]]);
  },
);

for (const [loader, records, most] of [
  ['cell-towers', 1, 24],
  ['nuclear-reactors', 1, 14],
  ['earthquakes', 100, 3],
  ['wells', 1, 56],
] as const) {
  test(
    `a file of ${loader} is of the states in it if these are few: ${most}, and not one more`,
    SHORT,
    async (t) => {
      const { database, load } = loading(t);
      const statesOf = async (states: number, count: number = records) => {
        const rows = Array.from({ length: Math.max(states, count) }, (_, index) => {
          const at = index % states;
          return `T${index},nuclear,earthquake,${index},${[...STATES][at]},38,-78.${index}`;
        });
        const head = 'Licensee,PrimSource,type,id,State,latitude,longitude';
        const file = fileOf(t, 'few.csv', `${head}\n${rows.join('\n')}\n`);
        const { states: found } = await load(loader, file, { replace: true, force: true });
        const [described] = describeData(database).datasets;
        const inParts = described!.parts.reduce((sum, part) => sum + part.rows, 0);
        assert.deepEqual([inParts, described!.rows], [rows.length, rows.length]);
        return found?.length ?? 'all';
      };
      assert.equal(await statesOf(most), most);
      if (most < STATES.size) assert.equal(await statesOf(most + 1), 'all');
      if (records > 1) assert.equal(await statesOf(most, records - 1), 'all');
    },
  );
}

test(
  'fires may end, a place at sea is of the states that are given, and counties are of the states in their codes',
  SHORT,
  async (t) => {
    const { database, load } = loading(t);
    const fires = (count: number) =>
      fileOf(
        t,
        'fires.csv',
        `IncidentName,lat,lng\n${Array.from({ length: count }, (_, i) => `F${i},38,-78.${i}\n`).join('')}`,
      );
    // Of one state, and yet of the whole US.
    assert.equal((await load('wildfire-incidents', fires(100))).states, undefined);
    assert.equal((await load('wildfire-incidents', fires(1))).records, 1);
    assert.equal(
      (await load('wells', fileOf(t, 'w.csv', 'API,lat,lng\n1,25,-90\n'), { states: ['TX'] }))
        .records,
      1,
    );
    const radon = fileOf(t, 'r.csv', 'CountyFIPS,RadonZone\n51001,1\n24001,2\n');
    assert.equal((await load('radon', radon, { states: 'US' })).records, 2);
    // A file that was asked for a state may have others.
    const asked = [{ of: 'MD', files: [radon], options: {} }];
    const ofState = await loadParts(
      database,
      'radon',
      asked,
      { askedOf: 'radon' },
      { clock, onRecords: () => {} },
    );
    assert.equal(ofState.records, 1);
    assert.deepEqual(ofState.notes, [
      'Left out, outside of MD: 1 record.',
      'Unchanged, in other states: 1 record.',
    ]);
    const atSea = fileOf(t, 'w.csv', 'API,lat,lng\n1,25,-90\n2,36,-119\n');
    await load('wells', atSea, { replace: true });
    const [wells] = describeData(database).datasets.filter(
      ({ name }) => name === 'sites:oilGasWell',
    );
    const rowsOfParts = wells!.parts.map((part) => [part.state, part.rows]);
    assert.deepEqual(rowsOfParts, [['CA', 2]]);
  },
);

test('a load tells of each thousand of its records', SHORT, async (t) => {
  const seen: number[] = [];
  const parts = [{ of: 'US', files: [towers(t, { VA: 2_500 })], options: {} }];
  const onRecords = (records: number) => seen.push(records);
  await loadParts(openDatabase(t), 'cell-towers', parts, {}, { clock, onRecords });
  assert.deepEqual(seen, [1_000, 2_000]);
});
