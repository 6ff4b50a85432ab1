import type { MapPoint } from './frame.ts';

/** The form of locations on the map: points, or hexagons. */
export interface Binning {
  readonly kind: 'point' | 'hexagon';
  /** The size of a hexagon; 0 for points. */
  readonly radius: number;
  /** The bin of a point of the drawing, by its centre. */
  readonly binOf: (point: MapPoint) => { readonly key: number; readonly at: MapPoint };
}

/** More distinct places are drawn as hexagons, because points would overlap. */
export const MOST_POINTS = 2_000;

/** From the center of a hexagon to its corners, in units of the drawing. The larger are for narrow screens; about 1,600 of the smaller
 * cover the country: with 6.5 (3,000) the colored part of a hexagon was too small to see. */
export const HEXAGON_RADII = [20, 9];

const POINTS: Binning = {
  kind: 'point',
  radius: 0,
  binOf: ([x, y]) => {
    const at = [Math.round(x * 10) / 10, Math.round(y * 10) / 10] as const;
    return { key: keyOf(Math.round(x * 10), Math.round(y * 10)), at };
  },
};

/** The hexagon (corner up) of a point: the nearer of the centers in the two nearest rows. */
function hexagonOf([x, y]: MapPoint, radius: number): { readonly key: number; readonly at: MapPoint } {
  const dx = radius * Math.sqrt(3);
  const dy = radius * 1.5;
  const centre = (row: number): readonly [row: number, column: number, x: number, y: number] => {
    const shift = (row & 1) / 2;
    const column = Math.round(x / dx - shift);
    return [row, column, (column + shift) * dx, row * dy];
  };
  const [above, below] = [centre(Math.floor(y / dy)), centre(Math.floor(y / dy) + 1)];
  const far = (of: typeof above) => (of[2] - x) ** 2 + (of[3] - y) ** 2;
  const [row, column, cx, cy] = far(above) <= far(below) ? above : below;
  return { key: keyOf(row, column), at: [cx, cy] };
}

/** Of two whole numbers that are not below -20,000 and below 20,000: the drawing has 9,600 tenths and fewer columns. */
function keyOf(a: number, b: number): number {
  // Plus 0: tests compare keys by Object.is, for which -0 is not 0.
  return a * 40_000 + b + 0;
}

/** The binnings for a number of distinct places, from coarse to fine. */
export function binningsOf(places: number): readonly Binning[] {
  if (places <= MOST_POINTS) return [POINTS];
  return HEXAGON_RADII.map((radius) => ({
    kind: 'hexagon',
    radius,
    binOf: (point) => hexagonOf(point, radius),
  }));
}
