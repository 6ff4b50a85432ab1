/** A point on earth, in WGS84 decimal degrees. */
export interface Location {
  /** The latitude, in decimal degrees. */
  readonly lat: number;
  /** The longitude, in decimal degrees. */
  readonly lng: number;
}

/** A location rounded to `precision` decimals: the unit of lookup, cache and payment. In units of 1e-7 degrees: whole
 * numbers that fit in 32 bits (180e7 < 2^31), so that equal cells are equal to the bit. */
export interface Cell {
  readonly lat7: number;
  readonly lng7: number;
}

export const UNITS_PER_DEGREE = 1e7;

/** The most decimals of a cell; the seventh is about a centimetre. */
export const MAX_PRECISION = 7;

/** Rounds a location to its cell. `precision` is 0 to 7 decimals (4 is about 11 m). Never returns -0. */
export function cellOf(location: Location, precision: number): Cell {
  return { lat7: cellUnits(location.lat, precision), lng7: cellUnits(location.lng, precision) };
}

/** The location that a call for this cell asks about. */
export function locationOf(cell: Cell): Location {
  return { lat: cell.lat7 / UNITS_PER_DEGREE, lng: cell.lng7 / UNITS_PER_DEGREE };
}

/** Only nearer to a half than this can the second rounding below change the result: 15 digits of 1.8e9 are exact to 5e-6. */
const NEAR_HALF = 1e-5;

const POWERS = Float64Array.from({ length: MAX_PRECISION + 1 }, (_, power) => 10 ** power);

/** As `cellOf`, for the latitude or the longitude alone. */
export function cellUnits(degrees: number, precision: number): number {
  const exact = degrees * POWERS[precision]!;
  // 34.00005 * 1e4 = 340000.49999999994 must not round down, so the scaled value is rounded to 15 digits first. That
  // goes through text, which took a tenth of a scan, so only near a half.
  const isNearHalf = Math.abs(exact - Math.floor(exact) - 0.5) < NEAR_HALF;
  const scaled = Math.round(isNearHalf ? Number(exact.toPrecision(15)) : exact);
  return scaled * POWERS[MAX_PRECISION - precision]! + 0;
}

/** Mean earth radius in metres (IUGG R1). */
const EARTH_RADIUS_M = 6_371_008.8;
/** Equatorial radius of WGS84 in metres: that of the maps in browsers (EPSG:3857). */
export const EARTH_RADIUS_OF_MERCATOR = 6_378_137;
const RADIANS = Math.PI / 180;
/** Metres of a degree of latitude. */
export const METERS_PER_DEGREE = EARTH_RADIUS_M * RADIANS;

/** Great-circle distance in metres by the haversine formula (good to 0.5 % against the ellipsoid). */
export function distanceMeters(a: Location, b: Location): number {
  const sinLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const sinLng = Math.sin(((b.lng - a.lng) * RADIANS) / 2);
  const h =
    sinLat * sinLat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * sinLng * sinLng;
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Nearer to the edge than this share of the squared chord, rounding could decide (at a kilometre its error is 3e-12). */
const NEAR_EDGE = 1e-6;

export interface UnitVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** The direction of a location from the middle of a sphere with the radius 1. */
export function unitVectorOf({ lat, lng }: Location): UnitVector {
  const shrink = Math.cos(lat * RADIANS);
  return {
    x: shrink * Math.cos(lng * RADIANS),
    y: shrink * Math.sin(lng * RADIANS),
    z: Math.sin(lat * RADIANS),
  };
}

/** Makes the function that decides whether a point is within `meters` of a location. Its result always agrees with `distanceMeters`, in
 * a tenth of the time, because comparing chords needs no trigonometry. */
export function createWithin(
  location: Location,
  meters: number,
): (point: Location & UnitVector) => boolean {
  const { x, y, z } = unitVectorOf(location);
  const squaredChord = 4 * Math.sin(meters / (2 * EARTH_RADIUS_M)) ** 2;
  const inside = squaredChord * (1 - NEAR_EDGE);
  const outside = squaredChord * (1 + NEAR_EDGE);
  return (point) => {
    const squared = (point.x - x) ** 2 + (point.y - y) ** 2 + (point.z - z) ** 2;
    return squared < inside || (squared <= outside && distanceMeters(location, point) <= meters);
  };
}
