/** Boxes (south, north, west, east) that hold every place that `isCovered` accepts, its margins included: what SQL can check. A
 * place in a box may still be abroad or far from any coast, which `perilbook places` checks exactly. */
export const COVERAGE_BOXES: readonly (readonly [south: number, north: number, west: number, east: number])[] = [
  [24, 50, -126, -66], // the 48 states and DC
  [50, 72, -180, -129], // Alaska
  [50, 54, 171, 180], // the Aleutian Islands beyond the 180th meridian
  [18, 29, -179, -154], // Hawaii
  [17, 19, -69, -64], // Puerto Rico, US Virgin Islands
  [12, 21, 144, 147], // Guam, Northern Mariana Islands
  [-15, -10, -172, -167], // American Samoa
];

/** Whether a place is in one of the boxes. */
export function isInBoxes(lat: number, lng: number): boolean {
  return COVERAGE_BOXES.some(
    ([south, north, west, east]) => lat >= south && lat <= north && lng >= west && lng <= east,
  );
}
