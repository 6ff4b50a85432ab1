/** Places a second whose flood zone is found among 300,000 zones with 30 million corners, and the memory that takes, against d3-geo over the
 * same index of boxes; the same of a described layer with a million corners. DuckDB has spatial joins in an extension alone, which is not among the packages. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { geoContains } from 'd3-geo';
import type { Position } from 'geojson';
import { systemClock } from '../src/base/clock.ts';
import { FLOOD_ZONES } from '../src/contract/layers/flood-zones.ts';
import type { PolygonLayer } from '../src/contract/layers/layer-description.ts';
import { declareLayers } from '../src/contract/topics.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import type { DatasetName, ZoneRecord } from '../src/data/tables/records.ts';
import { zoneDatasetOf } from '../src/data/zones/zone-layers.ts';
import { boxOfGeometry } from '../src/geo/bounding-boxes.ts';
import { createBoxSearch } from '../src/geo/outline-index.ts';
import { makeRandom, type Random } from '../src/sample/random.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { type ZoneTimes, zonePlaces } from './zones-process.ts';

/** Counties along a side of the state, and low places along a side of a county. */
const COUNTIES = sized(18, 2);
const COUNTIES_OF_LAYER = sized(4, 2);
const BASINS = sized(30, 4);
const CORNERS = 50;
const SIDE = 0.3;
const SOUTH = 33;
const WEST = -84;
const PLACES = sized(100_000, 200);
const FEW = sized(300, 10);

/** A layer as a user describes it. */
const LAYER: PolygonLayer = {
  layer: 'bench_zone',
  title: 'Benchmark',
  vintage: '2026',
  class: { from: ['zone'], show: 'class' },
  classes: [{ name: 'AE' }, { name: 'A' }],
  none: ['X'],
  outside: 'none',
  distance_m: 100,
};

/** Prints the rates of the look-up and of d3-geo, and the memory of a process that looks up. */
export function run(): Goal[] {
  declareLayers([LAYER]);
  const flood = measure({ layer: FLOOD_ZONES, counties: COUNTIES });
  const own = measure({ layer: LAYER, counties: COUNTIES_OF_LAYER });
  // Other benchmarks have no layer.
  declareLayers([]);
  const theirs = ofGeo({ south: SOUTH, west: WEST, side: SIDE, count: FEW });
  const rowOf = (name: string, { rate, cpuRate, peak, loadMs }: ZoneTimes) => [
    name,
    ...[rate, cpuRate, peak, loadMs].map(Math.round),
  ];
  const rows = [
    rowOf('flood zones, one thread', flood),
    rowOf('a described layer, one thread', own),
    [`d3-geo (${FEW} places of one county)`, Math.round(theirs), '', '', ''],
  ];
  const heads = ['', 'places a second', 'a second of processor time', 'peak MB', 'ms to read'];
  console.log(table(heads, rows));
  const unit = 'places/s of processor time';
  return [
    { what: 'places', measured: Math.round(flood.cpuRate), unit, atLeast: 25_000 },
    { what: 'memory', measured: Math.round(flood.peak), unit: 'MB', atMost: 350 },
    { what: 'places in a layer', measured: Math.round(own.cpuRate), unit, atLeast: 20_000 },
  ];
}

interface Measured {
  readonly layer: PolygonLayer;
  readonly counties: number;
}

/** Writes a state of this layer, and looks up its places in a process of their own. */
function measure(of: Measured): ZoneTimes {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-zones-'));
  try {
    const file = join(folder, 'data.db');
    const { zones, corners } = writeState(file, of);
    const { layer, counties } = of;
    const place = { south: SOUTH, west: WEST, side: counties * SIDE, count: PLACES };
    const program = new URL('./zones-process.ts', import.meta.url).pathname;
    const words = [program, file, JSON.stringify(place), JSON.stringify(layer)];
    const told = execFileSync(process.execPath, words, { encoding: 'utf8' });
    const times = JSON.parse(told) as ZoneTimes;
    console.log(
      `${layer.title}: ${zones} zones, ${(corners / 1e6).toFixed(1)} million corners, ${Math.round(statSync(file).size / 1e6)} MB; ${times.found} of ${PLACES} places in a zone, ${times.noted} within 100 m of another\n`,
    );
    return times;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeState(
  file: string,
  { layer, counties }: Measured,
): { readonly zones: number; readonly corners: number } {
  using database = openDataDatabase(file);
  const counted = { zones: 0, corners: 0 };
  const info = (name: DatasetName) =>
    ({ name, source: 'bench', vintage: '2026', licence: '', sample: true }) as const;
  const coordinates = [square(WEST - 1, SOUTH - 1, counties * SIDE + 2)];
  const area = { geoid: '37001', level: 'county', name: 'All', state: 'NC' } as const;
  const areas = [{ ...area, geometry: { type: 'Polygon', coordinates } }] as const;
  importDataset(database, { kind: 'areas', info: info('areas'), records: areas }, systemClock);
  function* records(): Generator<ZoneRecord> {
    const random = makeRandom(1, 'zones');
    for (let county = 0; county < counties ** 2; county++) {
      for (const record of countyZones(county, counties, random)) {
        if (record.geometry?.type !== 'Polygon') continue;
        counted.zones += 1;
        counted.corners += record.geometry.coordinates.reduce((sum, ring) => sum + ring.length, 0);
        yield record;
      }
    }
  }
  importDataset(
    database,
    { kind: 'zones', info: info(zoneDatasetOf(layer)), records: records() },
    systemClock,
  );
  return counted;
}

/** The low places of a county, each a hole of its zone X, which has some 45,000 corners. */
function* countyZones(county: number, counties: number, random: Random): Generator<ZoneRecord> {
  const [south, west] = [
    SOUTH + Math.floor(county / counties) * SIDE,
    WEST + (county % counties) * SIDE,
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
function ofGeo(of: Parameters<typeof zonePlaces>[0]): number {
  const shapes = [...countyZones(0, 1, makeRandom(1, 'zones'))].map(({ geometry }) => geometry);
  const search = createBoxSearch(shapes.map((shape) => boxOfGeometry(shape)!));
  const places = zonePlaces(of);
  const begun = performance.now();
  for (const { lat, lng } of places) {
    const touched = search({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat });
    touched.find((index) => geoContains(shapes[index]!, [lng, lat]));
  }
  return FEW / ((performance.now() - begun) / 1_000);
}
