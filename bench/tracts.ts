/** Places a second whose census tract the scan of a job finds by the outlines, against d3-geo over the same index of boxes. */
import { existsSync, readFileSync } from 'node:fs';
import { geoContains } from 'd3-geo';
import type { FeatureCollection, MultiPolygon, Polygon, Position } from 'geojson';
import { systemClock } from '../src/base/clock.ts';
import { createCellAreaFinder } from '../src/data/tables/cell-area-finder.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../src/data/tables/records.ts';
import { type Box, boxOfGeometry } from '../src/geo/bounding-boxes.ts';
import { cellOf, type Location } from '../src/geo/coordinates.ts';
import { createBoxSearch } from '../src/geo/outline-index.ts';
import { AreaTable, findAreas } from '../src/run/areas/area-table.ts';
import { CellTable } from '../src/run/scan/cell-table.ts';
import { makeRandom } from '../src/sample/random.ts';
import { noRealData, realFile } from '../test/real-data.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const PLACES = sized(1_000_000, 1_000);
/** What d3-geo checks in seconds. */
const FEW = sized(5_000, 50);
/** The number of census tracts in the US. */
const TRACTS = sized(85_000, 100);

/** Prints the rates for made-up tracts of the whole country and for real ones of Virginia. */
export function run(): Goal[] {
  const rows = [...measured('85,000 made-up tracts', madeUpTracts())];
  const file = realFile('boundaries/va_tracts_tiger.geojson');
  if (!noRealData && existsSync(file))
    rows.push(...measured('61 real tracts (TIGER/Line)', realTracts(file)));
  console.log(
    table(['', 'corners an outline', 'near a border', 'places a second', 'of d3-geo'], rows),
  );
  return rows
    .filter(([name]) => !String(name).endsWith('d3-geo'))
    .map(([name, , , rate]) => ({
      what: String(name),
      measured: Number(rate),
      unit: 'places/s',
      atLeast: 300_000,
    }));
}

function measured(name: string, records: readonly AreaRecord[]): (string | number)[][] {
  using database = openDataDatabase(':memory:');
  const info = {
    name: 'areas',
    source: 'bench',
    vintage: '2026',
    licence: '',
    sample: true,
  } as const;
  importDataset(database, { kind: 'areas', info, records }, systemClock);
  const boxes = records.map(({ geometry }) => boxOfGeometry(geometry)!);
  const places = placesIn(boxes);
  const cells = new CellTable();
  for (const place of places) cells.add(cellOf(place, 4));
  const find = createCellAreaFinder(database, 'tract', 4);
  const rate = (count: number, act: () => void) => {
    const begun = performance.now();
    act();
    return count / ((performance.now() - begun) / 1_000);
  };
  const findAll = () => findAreas(cells, new AreaTable(), find);
  const { near_border: nearBorder } = findAll();
  const again = rate(cells.size, findAll);
  const anew = createCellAreaFinder(database, 'tract', 4);
  const first = rate(cells.size, () => findAreas(cells, new AreaTable(), anew));
  const search = createBoxSearch(boxes);
  const theirs = rate(FEW, () => {
    for (const { lat, lng } of places.slice(0, FEW)) {
      const found = search({ minLng: lng, maxLng: lng, minLat: lat, maxLat: lat });
      found.find((area) => geoContains(records[area]!.geometry, [lng, lat]));
    }
  });
  const corners =
    records.reduce((sum, { geometry }) => sum + cornersOf(geometry), 0) / records.length;
  const line = (what: string, perSecond: number) => [
    `${name}: ${what}`,
    Math.round(corners),
    `${((100 * nearBorder) / cells.size).toFixed(1)} %`,
    Math.round(perSecond),
    (perSecond / theirs).toFixed(0),
  ];
  return [
    line('outlines read from the file', first),
    line('outlines in memory', again),
    line('d3-geo', theirs),
  ];
}

/** Random locations in random areas, so that no lookup is near the one before it. */
function placesIn(boxes: readonly Box[]): Location[] {
  const random = makeRandom(1, 'tracts');
  return Array.from({ length: PLACES }, () => {
    const { minLat, maxLat, minLng, maxLng } = boxes[Math.floor(random() * boxes.length)]!;
    return {
      lat: minLat + random() * (maxLat - minLat),
      lng: minLng + random() * (maxLng - minLng),
    };
  });
}

/** The squares of a grid over the lower 48, bent so that neighbours share winding borders of 16 edges. */
function madeUpTracts(): AreaRecord[] {
  const across = Math.ceil(Math.sqrt(TRACTS));
  const side = 30 / across;
  const bent = (u: number, v: number): Position => [
    -115 + u * side + (Math.sin(v * 40) * side) / 8,
    30 + ((v * side) / 30) * 18 + (Math.sin(u * 40) * side) / 8,
  ];
  const steps = Array.from({ length: 16 }, (_, step) => step / 16);
  return Array.from({ length: TRACTS }, (_, number) => {
    const [u, v] = [number % across, Math.floor(number / across)];
    const ring = [
      ...steps.map((step) => bent(u + step, v)),
      ...steps.map((step) => bent(u + 1, v + step)),
      ...steps.map((step) => bent(u + 1 - step, v + 1)),
      ...steps.map((step) => bent(u, v + 1 - step)),
      bent(u, v),
    ];
    const geoid = `31001${String(number).padStart(6, '0')}`;
    return {
      geoid,
      level: 'tract',
      name: geoid,
      state: 'NE',
      geometry: { type: 'Polygon', coordinates: [ring] },
    };
  });
}

function realTracts(file: string): AreaRecord[] {
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as FeatureCollection<
    Polygon | MultiPolygon
  >;
  return features.map(({ geometry, properties }) => {
    const geoid = String(properties!.GEOID);
    return { geoid, level: 'tract', name: geoid, state: 'VA', geometry };
  });
}

function cornersOf({ type, coordinates }: Polygon | MultiPolygon): number {
  const polygons = type === 'Polygon' ? [coordinates] : coordinates;
  return polygons.flat().reduce((sum, ring) => sum + ring.length, 0);
}
