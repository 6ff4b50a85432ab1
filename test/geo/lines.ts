/** Positions as Well-Known Text has them: `-90.2 32.4, -90.1 32.5`. */
export const positions = (text: string) =>
  text.split(', ').map((position) => position.split(' ').map(Number) as [lng: number, lat: number]);

/** A line as GeoJSON from its positions; several parts are a MultiLineString. */
export function lines(...parts: readonly string[]) {
  const all = parts.map(positions);
  return all.length === 1
    ? { type: 'LineString', coordinates: all[0]! }
    : { type: 'MultiLineString', coordinates: all };
}
