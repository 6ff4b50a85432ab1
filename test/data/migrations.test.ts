import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import Database from 'better-sqlite3';
import { createAreaFinder } from '../../src/data/tables/area-finder.ts';
import { packOutline } from '../../src/data/tables/area-outlines.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import {
  AREAS,
  databaseFile,
  HERE,
  info,
  NEXT_DOOR,
  NOON,
  openDatabase,
  RATINGS,
  StillClock,
  square,
} from '../service/small-data.ts';

const MIGRATIONS = new URL('../../src/data/tables/migrations/', import.meta.url);

/** A database as it was before levels had tables of their own, with areas, ratings and a data set without levels. */
function writeDatabaseOfVersion2(file: string): void {
  const database = new Database(file);
  for (const name of ['0001-topic-data.sql', '0002-accounts.sql']) {
    database.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
  }
  database.pragma('user_version = 2');
  const describe = database.prepare('INSERT INTO datasets VALUES (?, ?, ?, ?, ?, ?, ?)');
  describe.run('areas', 'census', '2024', '', 0, AREAS.length, NOON);
  describe.run('nri', 'fema', '2025', 'not endorsed', 0, RATINGS.length, NOON);
  describe.run('radon', 'epa', '1993', '', 1, 1, NOON);
  database.prepare('INSERT INTO radon VALUES (?, ?)').run('31001', 2);
  const area = database.prepare('INSERT INTO areas (geoid, level, name, state, outline) VALUES (?, ?, ?, ?, ?)');
  const box = database.prepare('INSERT INTO area_boxes VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const { geoid, level, name, state, geometry } of AREAS) {
    const { lastInsertRowid: id } = area.run(geoid, level, name, state, packOutline(geometry));
    const [[lng, lat], , [lngEnd, latEnd]] = geometry.coordinates[0] as [number, number][] as [
      [number, number],
      [number, number],
      [number, number],
    ];
    box.run(id, lng, lngEnd, lat, latEnd, geoid, level);
  }
  const rating = database.prepare('INSERT INTO ratings VALUES (?, ?, ?, ?, ?)');
  for (const { geoid, topic, rating: words, score, frequency } of RATINGS) {
    rating.run(geoid, topic, words, score, frequency);
  }
  database.close();
}

test('a database of the version before levels keeps its areas, ratings and descriptions', (t) => {
  const file = databaseFile(t);
  writeDatabaseOfVersion2(file);
  const database = openDatabase(t, file);
  const count = (table: string) => database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();
  assert.deepEqual(['areas_tract', 'areas_county'].map(count), [4, 2]);
  assert.deepEqual(['ratings_tract', 'ratings_county', 'radon'].map(count), [18, 18, 1]);
  assert.deepEqual(
    describeData(database).datasets.map(({ name, level, rows, source, licence, sample, loadedAt }) => ({
      name,
      level,
      rows,
      source,
      licence,
      sample,
      loadedAt,
    })),
    [
      { name: 'areas', level: 'county', rows: 2, source: 'census', licence: '', sample: false, loadedAt: NOON },
      { name: 'areas', level: 'tract', rows: 4, source: 'census', licence: '', sample: false, loadedAt: NOON },
      {
        name: 'nri',
        level: 'county',
        rows: 18,
        source: 'fema',
        licence: 'not endorsed',
        sample: false,
        loadedAt: NOON,
      },
      { name: 'nri', level: 'tract', rows: 18, source: 'fema', licence: 'not endorsed', sample: false, loadedAt: NOON },
      { name: 'radon', level: '', rows: 1, source: 'epa', licence: '', sample: true, loadedAt: NOON },
    ],
  );
  const find = createAreaFinder(database);
  assert.deepEqual(find(HERE), { geoid: '31001000100', county: '31001' });
  assert.deepEqual(find(NEXT_DOOR), { geoid: '31003', county: '31003' });
  // A load takes numbers that none of the old areas had.
  const highest = database.prepare<[], number>('SELECT max(id) FROM areas_tract').pluck();
  const before = highest.get()!;
  importDataset(
    database,
    {
      kind: 'areas',
      level: 'tract',
      info: info('areas'),
      records: [{ ...AREAS[1]!, geometry: square(-100, 40, 0.5) }],
    },
    new StillClock(),
  );
  assert.ok(highest.get()! > before);
  assert.equal(find(HERE)!.geoid, '31001000100');
  assert.equal(count('areas_county'), 2);
});
