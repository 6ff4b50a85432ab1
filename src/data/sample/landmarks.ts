import type { Location } from '../../geo/coordinates.ts';
import { metersToShape, shapeOf } from '../../geo/nearest.ts';
import { line } from './places.ts';

/** What the hazard rules measure distances to: rough lines, drawn by eye from a map and good to about 30 km. */
const LANDMARKS = {
  gulfAtlantic: [
    line(
      '-97.2 25.9, -97.2 27.8, -94.8 29.3, -91.5 29.4, -89.2 29.2, -88.1 30.3, -85.3 29.7, -83.9 30, ' +
        '-82.8 28.2, -81.8 26.1, -80.9 25.2, -80.1 25.8, -80.6 28.4, -81.4 30.7, -79.2 33.2, -77 34.6, ' +
        '-75.5 35.3, -76 36.9, -74.5 39.3, -73.9 40.5, -71.4 41.4, -70 41.7, -70.8 42.6, -69 44, ' +
        '-67 44.8',
    ),
  ],
  pacific: [
    line(
      '-117.2 32.6, -118.5 34, -120.6 34.6, -121.9 36.6, -122.6 37.8, -123.8 39.3, -124.3 40.4, ' +
        '-124.1 42, -124 44.6, -124 46.3, -124.7 48.3, -122.5 48.3, -122.4 47.3',
    ),
  ],
  alaskaCoast: [
    line('-131 55, -135.5 57.5, -140 59.7, -146.5 60.8, -150 60, -153.5 57.8, -158.5 56, -165 54.3, ' + '-176 51.8'),
  ],
  sanAndreas: [line('-115.6 32.8, -117.3 34.2, -119.8 35.3, -121.8 37.1, -123 38.5, -124.2 40.3')],
  cascadia: [line('-124.3 41, -123.8 44, -122.6 47.6, -122.7 48.8')],
  wasatch: [line('-112 38.5, -111.8 40.7, -112 42, -110.8 44.5, -112 46.6')],
  walkerLane: [line('-117.8 36.2, -118.9 38.2, -119.9 39.7')],
  newMadrid: [line('-90.4 35.4, -89.5 36.6, -88.9 37.3')],
  charleston: [line('-80.2 33, -79.9 32.8')],
  cascadeVolcanoes: [line('-121.5 40.5, -122.2 41.4, -121.8 44, -121.7 45.4, -121.8 46.9, -121.8 48.8')],
  alaskaVolcanoes: [line('-152.3 61.3, -155 58.3, -160 55.8, -168 53.4, -178 51.8')],
  kilauea: [line('-155.3 19.4, -155.6 19.5')],
  westernMountains: [
    line('-105.6 35.6, -106.3 39.2, -107.3 43, -110 45, -114 48.6'),
    line('-111.6 40.6, -111.2 42.5, -114.7 44.2'),
    line('-118.6 36.6, -120.2 39.2, -121.8 44, -121.3 48.5'),
    line('-135 58.6, -145 61.2, -150.5 62.8'),
  ],
  whiteMountains: [line('-72.9 44.2, -71.3 44.3, -69.3 45.7')],
  appalachians: [line('-84.3 34.8, -82.5 35.7, -80.6 37.8, -78.8 39.7, -76.5 41.4')],
  bigRivers: [
    line(
      '-93.2 45, -91.2 43, -90.6 41.5, -91.4 39.9, -90.2 38.6, -89.2 37, -90.1 35.1, -91.1 32.3, -91.2 30.4, -90 29.9',
    ),
    line('-111.3 47.5, -103.6 48, -100.8 46.8, -96.4 42.5, -95.9 41.2, -94.6 39.1, -90.2 38.8'),
    line('-80 40.4, -82.5 38.4, -84.5 39.1, -85.8 38.3, -89.2 37'),
    line('-96.8 46.9, -97.1 48.9'),
    line('-121.5 38.6, -122 39.7'),
    line('-117 46.4, -119 46, -122.7 45.6'),
    line('-77 40.2, -75.9 41.2, -76.1 42.1'),
    line('-95.2 29.8, -95.6 30.3'),
  ],
};

export type Landmark = keyof typeof LANDMARKS;

const SHAPES = new Map(
  Object.entries(LANDMARKS).map(([name, coordinates]) => [name, shapeOf({ type: 'MultiLineString', coordinates })]),
);

/** Kilometres from a location to the nearest point of a landmark. */
export function kilometresTo(landmark: Landmark, location: Location): number {
  return metersToShape(SHAPES.get(landmark)!, location) / 1000;
}
