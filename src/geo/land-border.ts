import type { Location } from './coordinates.ts';
import { squaredDistanceFromOrigin } from './segment.ts';

/** Rough lines along the borders with Mexico and Canada, as `lat,lng` pairs. They only say where a neighbour's town may
 * lie next to a US one; the border itself is in the shapes. Straits wider than the coast's margin are left out. */
const LINES: readonly (readonly number[])[] = [
  // Mexico: the Pacific to El Paso, then the Rio Grande to the Gulf.
  [
    32.534, -117.15, 32.718, -114.72, 32.494, -114.81, 31.333, -111.07, 31.333, -108.21, 31.783, -108.21, 31.784,
    -106.53,
  ],
  [31.784, -106.53, 30.63, -104.95, 29.56, -104.4, 28.98, -103.2, 29.78, -102.6, 29.75, -101.4, 28.7, -100.5],
  [28.7, -100.5, 27.5, -99.52, 26.4, -99.05, 25.88, -97.5, 25.95, -97.14],
  // Canada: the 49th parallel, the Northwest Angle, the border lakes.
  [
    49, -123.32, 49, -95.15, 49.38, -95.15, 48.84, -94.69, 48.6, -93.4, 48.35, -92.5, 48.06, -91.5, 48.1, -90, 48,
    -89.57,
  ],
  // The St Marys river, the St Clair and Detroit rivers, Niagara.
  [46.6, -84.7, 46.5, -84.33, 46.2, -84.1, 45.9, -83.5],
  [43.05, -82.42, 42.6, -82.52, 42.35, -82.93, 42.3, -83.09, 42, -83.14],
  [42.83, -78.93, 43.27, -79.06],
  // The St Lawrence, the 45th parallel, Maine.
  [
    44.1, -76.45, 44.35, -75.95, 44.85, -75.35, 45, -74.7, 45.01, -71.5, 45.3, -70.9, 45.8, -70.3, 46.4, -70.05, 47.46,
    -69.22,
  ],
  [47.46, -69.22, 47.25, -68.59, 47.36, -68.33, 47.07, -67.79, 45.7, -67.8, 45.19, -67.28, 44.78, -66.95],
  // Alaska: the 141st meridian, and the head of the Portland Canal (the rest of the panhandle's border is ice).
  [69.65, -141, 60.3, -141],
  [55.99, -130.02, 54.9, -130.15],
];

/** The lines are coarse: up to about 0.2 degrees off the true border. */
const WITHIN_DEGREES = 0.2;

/** True near the land and river borders, where a place outside of the shapes is likelier a neighbour's than on the coast. */
export function isNearLandBorder({ lat, lng }: Location): boolean {
  const shrink = Math.cos((lat * Math.PI) / 180);
  return LINES.some((line) => {
    for (let i = 2; i < line.length; i += 2) {
      const from = [(line[i - 1]! - lng) * shrink, line[i - 2]! - lat] as const;
      const to = [(line[i + 1]! - lng) * shrink, line[i]! - lat] as const;
      if (squaredDistanceFromOrigin(from[0], from[1], to[0], to[1]) <= WITHIN_DEGREES ** 2) return true;
    }
    return false;
  });
}
