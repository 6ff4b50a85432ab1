/** Places a second whose flood zone is found among 300,000 zones with 30 million corners, and the memory that takes, against d3-geo over the
 * same index of boxes. DuckDB has spatial joins in an extension alone, which is not among the packages. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { geoContains } from 'd3-geo';
import type { Position } from 'geojson';
import { systemClock } from '../src/base/clock.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import type { DatasetName, ZoneRecord } from '../src/data/tables/records.ts';
import { boxOfGeometry } from '../src/geo/bounding-boxes.ts';
import { createBoxSearch } from '../src/geo/outline-index.ts';
import { makeRandom, type Random } from '../src/sample/random.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { type ZoneTimes, zonePlaces } from './zones-process.ts';

/** Counties along a side of the state, and low places along a side of a county. */
const COUNTIES = sized(18, 2);
const BASINS = sized(30, 4);
const CORNERS = 50;
const SIDE = 0.3;
const SOUTH = 33;
const WEST = -84;
const PLACES = sized(100_000, 200);
const FEW = sized(300, 10);

/** Prints the rates of the look-up and of d3-geo, and the memory of a process that looks up. */
export function run(): Goal[] {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-zones-'));
  try {
    const file = join(folder, 'data.db');
    const { zones, corners } = writeState(file);
    const place = { south: SOUTH, west: WEST, side: COUNTIES * SIDE, count: PLACES };
    const program = new URL('./zones-process.ts', import.meta.url).pathname;
    const told = execFileSync(process.execPath, [program, file, JSON.stringify(place)], {
      encoding: 'utf8',
    });
    const { rate, cpuRate, loadMs, peak, found, noted } = JSON.parse(told) as ZoneTimes;
    const theirs = ofGeo(place);
    console.log(
      `${zones} zones, ${(corners / 1e6).toFixed(1)} million corners, ${Math.round(statSync(file).size / 1e6)} MB; ${found} of ${PLACES} places in a zone, ${noted} within 100 m of another\n`,
    );
    const rows = [
      [
        'look-up, one thread',
        Math.round(rate),
        Math.round(cpuRate),
        Math.round(peak),
        Math.round(loadMs),
      ],
      [`d3-geo (${FEW} places of one county)`, Math.round(theirs), '', '', ''],
    ];
    console.log(
      table(
        ['', 'places a second', 'a second of processor time', 'peak MB', 'ms to read the boxes'],
        rows,
      ),
    );
    return [
      {
        what: 'places',
        measured: Math.round(cpuRate),
        unit: 'places/s of processor time',
        atLeast: 25_000,
      },
      { what: 'memory', measured: Math.round(peak), unit: 'MB', atMost: 350 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeState(file: string): { readonly zones: number; readonly corners: number } {
  using database = openDataDatabase(file);
  const counted = { zones: 0, corners: 0 };
  const info = (name: DatasetName) =>
    ({ name, source: 'bench', vintage: '2026', licence: '', sample: true }) as const;
  const coordinates = [square(WEST - 1, SOUTH - 1, COUNTIES * SIDE + 2)];
  const area = { geoid: '37001', level: 'county', name: 'All', state: 'NC' } as const;
  const areas = [{ ...area, geometry: { type: 'Polygon', coordinates } }] as const;
  importDataset(database, { kind: 'areas', info: info('areas'), records: areas }, systemClock);
  function* records(): Generator<ZoneRecord> {
    const random = makeRandom(1, 'zones');
    for (let county = 0; county < COUNTIES ** 2; county++) {
      for (const record of countyZones(county, random)) {
        if (record.geometry?.type !== 'Polygon') continue;
        counted.zones += 1;
        counted.corners += record.geometry.coordinates.reduce((sum, ring) => sum + ring.length, 0);
        yield record;
      }
    }
  }
  importDataset(
    database,
    { kind: 'zones', info: info('floodZones'), records: records() },
    systemClock,
  );
  return counted;
}

/** The low places of a county, each a hole of its zone X, which has some 45,000 corners. */
function* countyZones(county: number, random: Random): Generator<ZoneRecord> {
  const [south, west] = [
    SOUTH + Math.floor(county / COUNTIES) * SIDE,
    WEST + (county % COUNTIES) * SIDE,
  ];
  const step = SIDE / BASINS;
  const holes: Position[][] = [];
  const zone = (code: string, special: string, coordinates: Position[][]): ZoneRecord => {
    const facts = {
      special,
      facts: { baseElevationFt: null, baseElevationDatum: null, depthFt: null },
    };
    return {
      kind: 'zone',
      geoid: '37001C',
      code,
      detail: '',
      facts,
      geometry: { type: 'Polygon', coordinates },
    };
  };
  for (let basin = 0; basin < BASINS ** 2; basin++) {
    const [lat, lng] = [
      south + (Math.floor(basin / BASINS) + 0.5) * step,
      west + ((basin % BASINS) + 0.5) * step,
    ];
    const ring = Array.from({ length: CORNERS }, (_, index): Position => {
      const reach = step * (0.25 + 0.2 * random());
      const angle = (2 * Math.PI * index) / CORNERS;
      return [round7(lng + reach * Math.cos(angle)), round7(lat + reach * Math.sin(angle))];
    });
    const closed = [...ring, ring[0]!];
    holes.push(closed);
    yield zone(basin % 3 === 0 ? 'AE' : 'A', 'T', [closed]);
  }
  yield zone('X', 'F', [square(west, south, SIDE), ...holes]);
}

const round7 = (degrees: number): number => Math.round(degrees * 1e7) / 1e7;

function square(west: number, south: number, side: number): Position[] {
  const [east, north] = [west + side, south + side];
  return [
    [west, south],
    [west, north],
    [east, north],
    [east, south],
    [west, south],
  ];
}

/** Places a second with d3-geo, among the zones of the first county. */
function ofGeo({ south, west }: Parameters<typeof zonePlaces>[0]): number {
  const shapes = [...countyZones(0, makeRandom(1, 'zones'))].map(({ geometry }) => geometry);
  const search = createBoxSearch(shapes.map((shape) => boxOfGeometry(shape)!));
  const places = zonePlaces({ south, west, side: SIDE, count: FEW });
  const begun = performance.now();
  for (const { lat, lng } of places) {
    const touched = search({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat });
    touched.find((index) => geoContains(shapes[index]!, [lng, lat]));
  }
  return FEW / ((performance.now() - begun) / 1_000);
}
