import { createRequire } from 'node:module';
import { geoPath } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import { memo } from '../../base/memo.ts';
import { CITIES } from '../../geo/cities.ts';
import { type Atlas, usAtlas } from '../../geo/us-atlas.ts';
import { allCounties, countyName } from '../../geo/us-counties.ts';
import {
  drawnPoint,
  type Frame,
  HEIGHT,
  type MapPoint,
  project,
  TERRITORIES,
  WIDTH,
} from './frame.ts';

export interface MapName {
  readonly kind: 'state' | 'city' | 'county';
  readonly name: string;
  readonly at: MapPoint;
  /** The width of its area; any for a city. */
  readonly width: number;
}

type NamedArea = GeoJSON.Feature<GeoJSON.Geometry, { name: string }>;

/** Points closer to the previous one are dropped: less than a line's width. */
const FINEST = 0.5;

const PAPER = 12;

/** The shapes on the projected plane of the map, and what is drawn of them whatever the frame: a page makes many reports in one process. */
const readShapes = memo((file: 'counties-albers-10m') => {
  const atlas: Atlas = createRequire(import.meta.url)(`us-atlas/${file}.json`);
  const { counties, states, nation } = atlas.objects;
  const { features: areas } = feature(atlas, states);
  return {
    ...{ atlas, counties, areas },
    inner: mesh(atlas, counties, (a, b) => a !== b && stateOf(a) === stateOf(b)).coordinates,
    borders: mesh(atlas, states, (a, b) => a !== b).coordinates,
    rings: feature(atlas, nation).features.map(({ geometry }) => polygonsOf(geometry).flat()),
  };
});

/** The background of the map as SVG path data, and the names on it. */
interface MapOutlines {
  readonly land: string;
  readonly states: string;
  readonly counties: string;
  readonly names: readonly MapName[];
}

/** Draws the part of us-atlas's projected shapes in a frame (equal areas, Alaska and Hawaii moved below): the map's background as SVG path
 * data, and the names on it, the most important first.
 * @param named the counties that have a name (`Miami-Dade, Florida`): those with locations; the others would be noise */
export function makeOutlines(frame: Frame, named: ReadonlySet<string>): MapOutlines {
  const { atlas, counties, areas, inner, borders, rings } = readShapes('counties-albers-10m');
  const nameOf = new Map(
    allCounties().flatMap((county) =>
      named.has(countyName(county)) ? [[county.code, county.name]] : [],
    ),
  );
  const geometries = counties.geometries.flatMap((county) => {
    const name = nameOf.get(String(county.id));
    return name === undefined ? [] : [{ ...county, properties: { name } }];
  });
  const ofNamed = feature(atlas, { ...counties, geometries });
  return {
    land: [...rings.map((lines) => linesPath(lines, frame, true)), ...territoryPaths(frame)].join(
      '',
    ),
    states: linesPath(borders, frame, false),
    counties: linesPath(inner, frame, false),
    names: [
      ...areaNames('state', areas, frame),
      ...territoryNames(frame),
      ...cityNames(frame),
      ...areaNames('county', ofNamed.features, frame),
    ],
  };
}

function shownTerritories({ territories }: Frame) {
  return TERRITORIES.filter(({ name }) => territories.includes(name));
}

function territoryPaths(frame: Frame): string[] {
  const shapes = usAtlas('counties-10m');
  const states = feature(shapes, shapes.objects.states).features;
  return shownTerritories(frame).flatMap(({ codes, projection }) =>
    states
      .filter(({ id }) => codes.includes(String(id)))
      .flatMap(({ geometry }) => polygonsOf(geometry))
      .map((rings) => rings.map((ring) => ring.map((point) => projection([point[0]!, point[1]!])!)))
      .map((lines) => linesPath(lines, frame, true)),
  );
}

function polygonsOf(geometry: GeoJSON.Geometry): number[][][][] {
  if (geometry.type === 'MultiPolygon') return geometry.coordinates;
  return geometry.type === 'Polygon' ? [geometry.coordinates] : [];
}

function isSeenAt([x, y]: MapPoint): boolean {
  return x > PAPER && x < WIDTH - PAPER && y > PAPER && y < HEIGHT - PAPER;
}

/** Half the width of "American Samoa". */
const HALF_NAME = 60;

function territoryNames(frame: Frame): MapName[] {
  return shownTerritories(frame).map(({ name, plane: [west, north, east, south] }) => {
    // Above Samoa: below it, the name would overlap that of Guam.
    const isAbove = name === 'American Samoa';
    const [x, y] = drawnPoint(frame, [(west + east) / 2, isAbove ? north : south]);
    const at = [
      Math.min(x, WIDTH - HALF_NAME),
      Math.min(isAbove ? y : y + 16, HEIGHT - PAPER),
    ] as const;
    return { kind: 'state', name: name.replace(/ and .*/, ''), at, width: WIDTH };
  });
}

function cityNames(frame: Frame): MapName[] {
  return [...CITIES]
    .sort((a, b) => b.people - a.people)
    .flatMap((city): MapName[] => {
      const point = project(city);
      const at = point && drawnPoint(frame, point);
      return at && isSeenAt(at) ? [{ kind: 'city', name: city.name, at, width: WIDTH }] : [];
    });
}

function stateOf({ id }: { id?: string | number | undefined }): string {
  return String(id).slice(0, 2);
}

function areaNames(kind: MapName['kind'], areas: readonly NamedArea[], frame: Frame): MapName[] {
  const path = geoPath();
  return areas.flatMap((area): MapName[] => {
    const [first, last] = path.bounds(area);
    const [west, north] = drawnPoint(frame, first);
    const [east, south] = drawnPoint(frame, last);
    const middle = drawnPoint(frame, path.centroid(area) as [number, number]);
    // A map of one town is smaller than its county, whose middle lies elsewhere.
    const isAround =
      kind === 'county' &&
      west < WIDTH / 2 &&
      east > WIDTH / 2 &&
      north < HEIGHT / 2 &&
      south > HEIGHT / 2;
    if (!isSeenAt(middle) && !isAround) return [];
    const at = isSeenAt(middle) ? middle : ([WIDTH / 2, HEIGHT - 3 * PAPER] as const);
    return [{ kind, name: area.properties.name, at, width: east - west }];
  });
}

/** Lines as one path in tenths of a unit. Relative coordinates take a third of the size of absolute ones. */
function linesPath(lines: readonly (readonly number[][])[], frame: Frame, closed: boolean): string {
  return lines
    .map((line) => linePath(line as unknown as readonly MapPoint[], frame, closed))
    .join('');
}

function linePath(line: readonly MapPoint[], frame: Frame, closed: boolean): string {
  const drawn = line.map((point) => drawnPoint(frame, point));
  if (SIDES.some((isBeyond) => drawn.every(isBeyond))) return '';
  const points: MapPoint[] = [];
  for (const [index, point] of drawn.entries()) {
    // Between two points beyond a side, one beyond it changes nothing that is seen. The one before is the last that stays: compared with
    // one that is left out, a line around a corner of the drawing lost the corner, and crossed the land.
    const [before, after] = [points.at(-1), drawn[index + 1]];
    const isUnseen = (isBeyond: (typeof SIDES)[number]) =>
      isBeyond(before!) && isBeyond(point) && isBeyond(after!);
    if (!before || !after || !SIDES.some(isUnseen)) points.push(point);
  }
  let path = '';
  let [lastX, lastY] = [0, 0];
  for (const [index, [x, y]] of points.entries()) {
    const isEnd = index === 0 || index === points.length - 1;
    const [tenX, tenY] = [Math.round(x * 10), Math.round(y * 10)];
    if (!isEnd && Math.hypot(tenX - lastX, tenY - lastY) < FINEST * 10) continue;
    if (index === 0) path = `M${tenX / 10} ${tenY / 10}l`;
    else if (tenX !== lastX || tenY !== lastY)
      path += ` ${formatTenths(tenX - lastX)} ${formatTenths(tenY - lastY)}`;
    [lastX, lastY] = [tenX, tenY];
  }
  return path.endsWith('l')
    ? ''
    : path.replaceAll('l ', 'l').replaceAll(' -', '-') + (closed ? 'z' : '');
}

/** Beyond each side of the drawing, with the width of a line. */
const SIDES: readonly ((point: MapPoint) => boolean)[] = [
  ([x]) => x < -2,
  ([x]) => x > WIDTH + 2,
  ([, y]) => y < -2,
  ([, y]) => y > HEIGHT + 2,
];

/** A number of tenths as SVG reads it, without a zero before the point. */
function formatTenths(number: number): string {
  return String(number / 10).replace(/^(-?)0\./, '$1.');
}
