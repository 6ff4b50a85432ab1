import { type GeoProjection, geoMercator } from 'd3-geo';
import type { Location } from '../../geo/coordinates.ts';

/** A box on the projected plane; y grows to the south. */
interface PlaneBox {
  readonly west: number;
  readonly north: number;
  readonly east: number;
  readonly south: number;
}

/** A territory as an inset: us-atlas's projection leaves the territories out. */
interface Territory {
  readonly name: string;
  /** The census codes of its territories. */
  readonly codes: readonly string[];
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
  /** Its position on the plane. */
  readonly box: PlaneBox;
  readonly projection: GeoProjection;
}

type Corners = readonly [west: number, north: number, east: number, south: number];

/** Insets on the plane of the projected states: below Florida, in the Gulf, beside Alaska and Hawaii. */
const INSETS: readonly (readonly [name: string, codes: readonly string[], degrees: Corners, plane: Corners])[] = [
  ['Puerto Rico and Virgin Islands', ['72', '78'], [-67.4, 18.6, -64.5, 17.6], [862, 566, 958, 600]],
  ['Guam and Northern Mariana Islands', ['66', '69'], [144.5, 20.6, 146.2, 13.1], [556, 532, 576, 608]],
  ['American Samoa', ['60'], [-171.2, -11, -168.1, -14.7], [650, 560, 692, 606]],
];

export const TERRITORIES: readonly Territory[] = INSETS.map(
  ([name, codes, [west, north, east, south], [x0, y0, x1, y1]]) => {
    const corners = [
      [west, north],
      [east, south],
    ];
    return {
      name,
      codes,
      south,
      north,
      west,
      east,
      box: { west: x0, north: y0, east: x1, south: y1 },
      projection: geoMercator().fitExtent(
        [
          [x0, y0],
          [x1, y1],
        ],
        { type: 'MultiPoint', coordinates: corners },
      ),
    };
  },
);

/** The territory of a location; undefined for the states. */
export function territoryAt({ lat, lng }: Location): Territory | undefined {
  return TERRITORIES.find(({ south, north, west, east }) => lat > south && lat < north && lng > west && lng < east);
}
