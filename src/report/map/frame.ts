import { geoAlbersUsa, geoMercator } from 'd3-geo';
import type { Location } from '../../geo/coordinates.ts';

export type MapPoint = readonly [x: number, y: number];

/** The part of the projected plane on the map: a point (x, y) is drawn at ((x - x0) * k, (y - y0) * k). */
export interface Frame {
  readonly x0: number;
  readonly y0: number;
  readonly k: number;
  readonly territories: readonly string[];
}

/** The drawing's size in its own units. */
export const WIDTH = 960;
export const HEIGHT = 600;

/** The projection of us-atlas's projected shapes: equal areas, Alaska and Hawaii moved below. */
const albers = geoAlbersUsa().scale(1300).translate([487.5, 305]);

/** The extent of those shapes, with a margin. */
const WHOLE: Frame = { x0: -66, y0: -11, k: WIDTH / 1032, territories: [] };

/** Locations that span more of the country are shown on the whole map. */
const LARGEST_PART = 0.7;

/** About 20 km, so that a few places of one street do not fill the map with nothing around them. */
const SMALLEST = 4.4;

const MARGIN = 1.14;

type Corners = readonly [west: number, north: number, east: number, south: number];

/** The territories, which us-atlas's projection leaves out: insets below Florida, in the Gulf, beside Alaska and Hawaii. */
export const TERRITORIES = [
  inset(
    'Puerto Rico and Virgin Islands',
    ['72', '78'],
    [-67.4, 18.6, -64.5, 17.6],
    [862, 566, 958, 600],
  ),
  inset(
    'Guam and Northern Mariana Islands',
    ['66', '69'],
    [144.5, 20.6, 146.2, 13.1],
    [556, 532, 576, 608],
  ),
  inset('American Samoa', ['60'], [-171.2, -11, -168.1, -14.7], [650, 560, 692, 606]),
];

/** @param plane its position on the projected plane, where y grows to the south */
function inset(name: string, codes: readonly string[], degrees: Corners, plane: Corners) {
  const pointsOf = ([west, north, east, south]: Corners): [[number, number], [number, number]] => [
    [west, north],
    [east, south],
  ];
  const extent = { type: 'MultiPoint', coordinates: pointsOf(degrees) } as const;
  return {
    name,
    codes,
    degrees,
    plane,
    projection: geoMercator().fitExtent(pointsOf(plane), extent),
  };
}

/** The territory of a location; undefined for the states. */
function territoryAt({ lat, lng }: Location) {
  return TERRITORIES.find(
    ({ degrees: [west, north, east, south] }) =>
      lat > south && lat < north && lng > west && lng < east,
  );
}

/** The position on the projected plane, territories beside the states; null elsewhere. */
export function project(location: Location): MapPoint | null {
  const { lat, lng } = location;
  return albers([lng, lat]) ?? territoryAt(location)?.projection([lng, lat]) ?? null;
}

/** The position of a projected location in the drawing. */
export function drawnPoint({ x0, y0, k }: Frame, [x, y]: MapPoint): MapPoint {
  return [(x - x0) * k, (y - y0) * k];
}

/** The frame around all locations; all of the country where they span most of it. */
export function fitFrame(locations: Iterable<Location>): Frame {
  let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity];
  const territories = new Set<string>();
  const widthOf = () =>
    Math.max(SMALLEST, east - west, ((south - north) * WIDTH) / HEIGHT) * MARGIN;
  let isWhole = false;
  for (const location of locations) {
    const territory = territoryAt(location);
    if (territory !== undefined) territories.add(territory.name);
    // Projecting takes a microsecond: it is not needed once all of the country is shown.
    if (isWhole) continue;
    const point = project(location);
    if (point === null) continue;
    const [x, y] = point;
    [west, east, north, south] = [
      Math.min(west, x),
      Math.max(east, x),
      Math.min(north, y),
      Math.max(south, y),
    ];
    isWhole = widthOf() * WHOLE.k > LARGEST_PART * WIDTH;
  }
  if (isWhole || west > east) return { ...WHOLE, territories: [...territories] };
  const width = widthOf();
  const k = WIDTH / width;
  return {
    x0: (west + east - width) / 2,
    y0: (north + south) / 2 - HEIGHT / k / 2,
    k,
    territories: [...territories],
  };
}
