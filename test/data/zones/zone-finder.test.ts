import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import { FLOOD_ZONES } from '../../../src/contract/layers/flood-zones.ts';
import type { PolygonLayer } from '../../../src/contract/layers/layer-description.ts';
import type { ZoneValue } from '../../../src/contract/topic-values.ts';
import { createDataVersion } from '../../../src/data/tables/data-database.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import type { ZoneRecord } from '../../../src/data/tables/records.ts';
import { createZoneFinder } from '../../../src/data/zones/zone-finder.ts';
import { kindOf } from '../../../src/data/zones/zone-layer.ts';
import { boxOfGeometry, widenedBox } from '../../../src/geo/bounding-boxes.ts';
import type { Location } from '../../../src/geo/coordinates.ts';
import { randomFrom } from '../../random-from.ts';
import { info, openDatabase, StillClock, square } from '../../service/small-data.ts';

const NO_FACTS = { baseElevationFt: null, baseElevationDatum: null, depthFt: null };

function zone(
  code: string,
  geometry: Polygon | MultiPolygon,
  {
    detail = '',
    geoid = '31001C',
    special = '',
    ...facts
  }: {
    detail?: string;
    geoid?: string;
    special?: string;
    baseElevationFt?: number;
    depthFt?: number;
  } = {},
): ZoneRecord {
  return {
    kind: 'zone',
    geoid,
    code,
    detail,
    facts: { special, facts: { ...NO_FACTS, ...facts } },
    geometry,
  };
}

const panel = (code: string, detail: string, geometry: Polygon, geoid = '31001C'): ZoneRecord => ({
  ...{ kind: 'panel', geoid, code, detail, facts: null, geometry },
});

function finderOf(t: Parameters<typeof openDatabase>[0], records: readonly ZoneRecord[]) {
  const database = openDatabase(t);
  importDataset(database, { kind: 'zones', info: info('floodZones'), records }, new StillClock());
  return zoneAt(createZoneFinder(database, createDataVersion(database), FLOOD_ZONES));
}

/** The zone of a place in a state that is loaded whole. */
const zoneAt =
  (find: ReturnType<typeof createZoneFinder>) =>
  (location: Location): ZoneValue | null => {
    const found = find(location, 'NE');
    assert.ok(found !== 'not_loaded');
    return found;
  };

/** The zone in short: `AE 12`. */
const short = (found: ZoneValue | null) => found && [found.zone, found.boundaryMeters];

/** A square of so many degrees with a square hole of half its size in its middle. */
const ringed = (lng: number, lat: number, size: number): Polygon => ({
  type: 'Polygon',
  coordinates: [
    square(lng, lat, size).coordinates[0]!,
    square(lng + size / 4, lat + size / 4, size / 2).coordinates[0]!,
  ],
});

test('of overlapping zones the most hazardous is given, with the distance 0', (t) => {
  const find = finderOf(t, [
    zone('X', square(-100, 40, 0.1), { detail: 'AREA OF MINIMAL FLOOD HAZARD' }),
    zone('AE', square(-99.95, 40, 0.1), { baseElevationFt: 10 }),
    zone('AE', square(-99.93, 40, 0.02), { baseElevationFt: 12 }),
    zone('OPEN WATER', square(-99.99, 40.05, 0.01)),
    zone('AREA NOT INCLUDED', square(-99.97, 40.05, 0.01)),
  ]);
  const at = (lng: number, lat: number) => find({ lng, lat });
  assert.deepEqual(short(at(-99.99, 40.02)), ['X', null]);
  assert.deepEqual(short(at(-99.94, 40.05)), ['AE', 0]);
  // The same zone with another elevation says something else.
  assert.deepEqual(
    [short(at(-99.92, 40.01)), at(-99.92, 40.01)!.facts.baseElevationFt],
    [['AE', 0], 12],
  );
  assert.deepEqual(short(at(-99.985, 40.055)), ['X', 0]);
  // What was not studied says nothing of what was.
  assert.deepEqual(short(at(-99.965, 40.055)), ['X', null]);
});

test('zones of one class are no other zones, however the files write it, and none is none with or without a zone', (t) => {
  const database = openDatabase(t);
  const records = [
    ...[zone('High', square(-100, 40, 0.01)), zone('2', square(-99.99, 40, 0.01))],
    ...[zone('Low', square(-99.98, 40, 0.01)), zone('h', square(-100, 40.005, 0.01))],
    ...[zone('n', square(-99, 40, 0.01)), zone('N/A', square(-98.99, 40, 0.01))],
    zone('n', square(-99, 40.005, 0.01), { detail: 'other', depthFt: 2 }),
    ...[
      zone('Low', square(-98, 40, 0.01)),
      zone('Low', square(-97.99, 40, 0.01), { detail: 'own' }),
    ],
  ];
  importDataset(database, { kind: 'zones', info: info('floodZones'), records }, new StillClock());
  const layer: PolygonLayer = {
    ...FLOOD_ZONES,
    class: { from: ['C'], show: 'class' },
    classes: [{ name: 'High', values: ['High', 'h', '2'] }, { name: 'Low' }],
    none: ['n', 'N/A'],
    not_studied: [],
    outside: 'none',
    distance_m: 100,
  };
  const find = zoneAt(createZoneFinder(database, createDataVersion(database), layer));
  const at = (lng: number, lat: number) => short(find({ lng, lat }));
  // Beside the same class, in two zones of it, and near the end of both.
  assert.deepEqual(at(-99.9901, 40.002), ['High', null]);
  assert.deepEqual(at(-99.995, 40.007), ['High', null]);
  assert.deepEqual(at(-99.9801, 40.002), ['High', 9]);
  // Another subtype is another zone.
  assert.deepEqual(at(-97.9901, 40.002), ['Low', 9]);
  // Between what was looked at, beyond it, and in two that overlap.
  assert.deepEqual(at(-98.9901, 40.002), ['none', null]);
  assert.deepEqual(at(-98.9799, 40.002), ['none', null]);
  assert.deepEqual(at(-98.995, 40.007), ['none', null]);
  assert.deepEqual(at(-99.9699, 40.002), ['none', 9]);
});

test('the number of zones at a place counts neither what was looked at and is none, nor zones elsewhere', (t) => {
  const database = openDatabase(t);
  const records = [
    zone('AE', square(-100, 40, 0.1)),
    zone('X', square(-99.95, 40, 0.1)),
    zone('OPEN WATER', square(-99.95, 40.05, 0.1)),
  ];
  importDataset(database, { kind: 'zones', info: info('floodZones'), records }, new StillClock());
  const layer = { ...FLOOD_ZONES, count: true, none: ['OPEN WATER'] };
  const find = zoneAt(createZoneFinder(database, createDataVersion(database), layer));
  const countAt = (lng: number, lat: number) => find({ lng, lat })!.facts.count;
  assert.deepEqual(
    [
      countAt(-99.98, 40.02),
      countAt(-99.92, 40.02),
      countAt(-99.92, 40.08),
      countAt(-99.88, 40.12),
    ],
    [1, 2, 2, 0],
  );
});

test('a place without a zone, or in one that was not studied, has none; a hole is outside, an island inside', (t) => {
  const find = finderOf(t, [
    zone('AE', ringed(-100, 40, 0.04)),
    zone('D', square(-99.985, 40.015, 0.01)),
    zone('AREA NOT INCLUDED', square(-99.9, 40, 0.04)),
  ]);
  const at = (lng: number, lat: number) => short(find({ lng, lat }));
  assert.deepEqual(at(-99.995, 40.005), ['AE', null]);
  assert.equal(at(-99.988, 40.012), null);
  assert.deepEqual(at(-99.98, 40.02), ['D', null]);
  assert.equal(at(-99.88, 40.02), null);
  assert.equal(at(-99.5, 40.02), null);
});

test('a gap of less than a metre between two zones belongs to both', (t) => {
  const half = 0.000004;
  const find = finderOf(t, [
    zone('X', square(-100.01, 40, 0.01 - half)),
    zone('AE', square(-100 + half, 40, 0.01)),
  ]);
  assert.deepEqual(short(find({ lng: -100, lat: 40.005 })), ['AE', 0]);
  assert.deepEqual(short(find({ lng: -100 - 0.00001, lat: 40.005 })), ['X', 2]);
  assert.equal(find({ lng: -100, lat: 40.0101 }), null);
});

test('on the line that two zones share the more hazardous is given, with the distance 0', (t) => {
  const find = finderOf(t, [
    zone('X', square(-100, 40, 0.01)),
    zone('AE', square(-99.99, 40, 0.01)),
    zone('X', square(-99.98, 40, 0.01)),
  ]);
  const at = (lng: number) => short(find({ lng, lat: 40.005 }));
  assert.deepEqual([-99.99, -99.98, -99.980005].map(at), [
    ['AE', 0],
    ['AE', 0],
    ['AE', 0],
  ]);
  assert.deepEqual(at(-99.97995), ['X', 5]);
});

test('the panel is that of the same study, and of several the newest', (t) => {
  const find = finderOf(t, [
    zone('AE', square(-100, 40, 0.04)),
    panel('other', '2024-01-01', square(-100, 40, 0.04), '31003C'),
    panel('old', '2009-01-01', square(-100, 40, 0.04)),
    panel('new', '2019-01-01', square(-100, 40, 0.02)),
    panel('undated', '', square(-99.97, 40.03, 0.01)),
  ]);
  const at = (lng: number, lat: number) => {
    const { panel, effective } = find({ lng, lat })!;
    return [panel, effective];
  };
  assert.deepEqual(at(-99.99, 40.01), ['new', '2019-01-01']);
  assert.deepEqual(at(-99.975, 40.01), ['old', '2009-01-01']);
  const alone = finderOf(t, [
    zone('AE', square(-100, 40, 0.04)),
    panel('undated', '', square(-100, 40, 0.02)),
  ]);
  assert.deepEqual(
    [alone({ lng: -99.99, lat: 40.01 })!.panel, alone({ lng: -99.99, lat: 40.01 })!.effective],
    ['undated', null],
  );
  assert.equal(alone({ lng: -99.97, lat: 40.03 })!.panel, null);
});

test('a replaced layer is read again', (t) => {
  const database = openDatabase(t);
  const load = (code: string) => {
    const records = [zone(code, square(-100, 40, 0.04))];
    importDataset(database, { kind: 'zones', info: info('floodZones'), records }, new StillClock());
  };
  load('AE');
  const find = zoneAt(createZoneFinder(database, createDataVersion(database), FLOOD_ZONES));
  assert.equal(find({ lng: -99.99, lat: 40.01 })!.zone, 'AE');
  load('VE');
  assert.equal(find({ lng: -99.99, lat: 40.01 })!.zone, 'VE');
});

test('outside the tiles of a state nothing is known, whatever zones reach there', (t) => {
  const database = openDatabase(t);
  const tile = (geoid: string, geometry: Polygon): ZoneRecord => ({
    ...{ kind: 'tile', geoid, code: '', detail: '' },
    facts: null,
    geometry,
  });
  const records = [
    zone('X', square(-100, 40, 1)),
    tile('31', square(-100, 40, 0.25)),
    tile('31', square(-99.5, 40, 0.25)),
  ];
  importDataset(database, { kind: 'zones', info: info('floodZones'), records }, new StillClock());
  const find = createZoneFinder(database, createDataVersion(database), FLOOD_ZONES);
  const at = (lng: number, lat: number, state = 'NE') => {
    const found = find({ lng, lat }, state);
    return found === 'not_loaded' || found === null ? found : found.zone;
  };
  assert.deepEqual(
    [at(-99.9, 40.1), at(-99.4, 40.1), at(-99.6, 40.1), at(-99.9, 40.3)],
    ['X', 'X', 'not_loaded', 'not_loaded'],
  );
  // Another state is loaded whole.
  assert.deepEqual([at(-99.9, 40.3, 'KS'), at(-98, 40.3, 'KS')], ['X', null]);
});

/* The brute force: angles around a place in place of edges that a ray crosses, and every edge of every zone. */

const METERS = 6_371_008.8 * (Math.PI / 180);

function turnsAround(ring: readonly Position[], { lng, lat }: Location): number {
  let angle = 0;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [ax, ay, bx, by] = [
      ring[i]![0]! - lng,
      ring[i]![1]! - lat,
      ring[i + 1]![0]! - lng,
      ring[i + 1]![1]! - lat,
    ];
    angle += Math.atan2(ax * by - ay * bx, ax * bx + ay * by);
  }
  return Math.abs(Math.round(angle / (2 * Math.PI)));
}

const ringsOf = ({ geometry }: ZoneRecord): Position[][] =>
  geometry!.type === 'Polygon' ? geometry!.coordinates : geometry!.coordinates.flat();

const holds = (record: ZoneRecord, location: Location): boolean =>
  Number.isFinite(metersToRings(record, location)) &&
  ringsOf(record).reduce((sum, ring) => sum + turnsAround(ring, location), 0) % 2 === 1;

/** Infinite beyond 200 m or so. */
function metersToRings(record: ZoneRecord, { lng, lat }: Location): number {
  const positions = ringsOf(record).flat();
  const isFar = [lng, lat].some((value, axis) => {
    const values = positions.map((position) => position[axis]!);
    return value < Math.min(...values) - 0.002 || value > Math.max(...values) + 0.002;
  });
  if (isFar) return Number.POSITIVE_INFINITY;
  const east = METERS * Math.cos((lat * Math.PI) / 180);
  let least = Number.POSITIVE_INFINITY;
  for (const ring of ringsOf(record)) {
    for (let i = 0; i + 1 < ring.length; i++) {
      const [ax, ay] = [(ring[i]![0]! - lng) * east, (ring[i]![1]! - lat) * METERS];
      const [dx, dy] = [
        (ring[i + 1]![0]! - lng) * east - ax,
        (ring[i + 1]![1]! - lat) * METERS - ay,
      ];
      const share = Math.min(1, Math.max(0, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
      least = Math.min(least, Math.hypot(ax + share * dx, ay + share * dy));
    }
  }
  return least;
}

const CODES = ['VE', 'AE', 'A', 'AO', 'B', 'D', 'X', 'C', 'OPEN WATER', 'AREA NOT INCLUDED'];
const COLUMNS = 9;
const CELL = 0.004;

/** A map: cells with ragged shared edges, holes, islands in holes, cells that are missing, and blobs across all of them. */
function makeMap(random: () => number): ZoneRecord[] {
  const degrees = (value: number) => Math.round(value * 1e7) / 1e7;
  const corner = Array.from({ length: (COLUMNS + 1) ** 2 }, () =>
    [random(), random()].map((share) => (share - 0.5) * 0.3 * CELL),
  );
  const at = (x: number, y: number): Position => {
    const [dx, dy] = corner[y * (COLUMNS + 1) + x]!;
    return [degrees(-100 + x * CELL + dx!), degrees(40 + y * CELL + dy!)];
  };
  /** The bends of the edge between two corners, the same from either side. */
  const bends = new Map<string, Position[]>();
  const edge = (a: readonly [number, number], b: readonly [number, number]): Position[] => {
    const isTurned = a[0] > b[0] || a[1] > b[1];
    const [from, to] = isTurned ? [b, a] : [a, b];
    const key = `${from} ${to}`;
    const [start, end] = [at(...from), at(...to)];
    const made =
      bends.get(key) ??
      [0.25, 0.5, 0.75].map((share) =>
        [0, 1].map((axis) =>
          degrees(
            start[axis]! + share * (end[axis]! - start[axis]!) + (random() - 0.5) * 0.1 * CELL,
          ),
        ),
      );
    bends.set(key, made);
    return isTurned ? [end, ...made.toReversed()] : [start, ...made];
  };
  const blob = (lng: number, lat: number, size: number): Position[] => {
    const ring = Array.from({ length: 24 }, (_, index) => {
      const reach = size * (0.6 + 0.4 * random());
      return [
        degrees(lng + reach * Math.cos((index * Math.PI) / 12)),
        degrees(lat + reach * Math.sin((index * Math.PI) / 12)),
      ];
    });
    return [...ring, ring[0]!];
  };
  const pick = () => CODES[Math.floor(random() * CODES.length)]!;
  const records: ZoneRecord[] = [];
  for (let y = 0; y < COLUMNS; y++) {
    for (let x = 0; x < COLUMNS; x++) {
      if (random() < 0.08) continue;
      const ring = [
        ...edge([x, y], [x + 1, y]),
        ...edge([x + 1, y], [x + 1, y + 1]),
        ...edge([x + 1, y + 1], [x, y + 1]),
        ...edge([x, y + 1], [x, y]),
      ];
      const rings = [[...ring, ring[0]!]];
      const [lng, lat] = [-100 + (x + 0.5) * CELL, 40 + (y + 0.5) * CELL];
      if (random() < 0.5) {
        const hole = blob(lng, lat, 0.3 * CELL);
        rings.push(hole);
        // Half of the holes are filled, and a quarter have two islands that are one zone.
        const share = random();
        const islands = [-0.08, 0.08].map((shift) => [blob(lng + shift * CELL, lat, 0.05 * CELL)]);
        if (share < 0.5) records.push(zone(pick(), { type: 'Polygon', coordinates: [hole] }));
        else if (share < 0.75)
          records.push(zone(pick(), { type: 'MultiPolygon', coordinates: islands }));
      }
      records.push(zone(pick(), { type: 'Polygon', coordinates: rings }));
    }
  }
  for (let index = 0; index < 12; index++) {
    const middle = [-100 + random() * COLUMNS * CELL, 40 + random() * COLUMNS * CELL] as const;
    records.push(
      zone(pick(), { type: 'Polygon', coordinates: [blob(...middle, (0.2 + random()) * CELL)] }),
    );
  }
  return records;
}

test('two thousand places of a map with holes, islands, shared edges and overlaps get what angles and distances say', (t) => {
  const random = randomFrom(7);
  const records = makeMap(random);
  const find = finderOf(t, records);
  const kind = (record: ZoneRecord) =>
    kindOf(FLOOD_ZONES, { code: record.code, subtype: record.detail });
  const counts = { none: 0, overlap: 0, near: 0, far: 0 };
  const boxes = new Map(records.map((record) => [record, boxOfGeometry(record.geometry)!]));
  const isBoxNear = (record: ZoneRecord, { lat, lng }: Location) => {
    const { minLat, maxLat, minLng, maxLng } = widenedBox(boxes.get(record)!, 2);
    return lat >= minLat && lat <= maxLat && lng >= minLng && lng <= maxLng;
  };
  for (let number = 0; number < 2_000; number++) {
    const location = {
      lng: -100.002 + random() * (COLUMNS + 1) * CELL,
      lat: 39.998 + random() * (COLUMNS + 1) * CELL,
    };
    const found = find(location);
    const studied = records.filter((record) => kind(record).kind?.means !== 'unstudied');
    // A place within a metre of a zone belongs to it, too.
    const counted = studied.filter(
      (record) =>
        isBoxNear(record, location) &&
        (holds(record, location) || metersToRings(record, location) <= 1),
    );
    const [best] = counted.toSorted((a, b) => kind(a).rank - kind(b).rank);
    const place = `${number}: ${location.lat}, ${location.lng}`;
    if (best === undefined) {
      counts.none += 1;
      assert.equal(found, null, place);
      continue;
    }
    assert.ok(found !== null, place);
    assert.equal(found.zone, best.code, place);
    if (counted.some(({ code }) => code !== best.code)) {
      counts.overlap += 1;
      assert.equal(found.boundaryMeters, 0, place);
      continue;
    }
    const others = studied.filter(({ code }) => code !== best.code);
    const meters = others.reduce(
      (least, record) => Math.min(least, metersToRings(record, location)),
      Number.POSITIVE_INFINITY,
    );
    if (meters > 100) {
      counts.far += 1;
      assert.ok(found.boundaryMeters === null || meters < 100.1, place);
    } else {
      counts.near += 1;
      // Rounded up; the two distances differ by less than a thousandth.
      const given = found.boundaryMeters!;
      assert.ok(
        given >= meters * 0.999 && given - 1 <= Math.max(meters * 1.001, 0),
        `${place}: ${given}, ${meters}`,
      );
    }
  }
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 100, `${name}: ${count}`);
  t.diagnostic(JSON.stringify(counts));
});
