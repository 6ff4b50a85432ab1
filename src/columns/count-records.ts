/**
 * How many records `details` holds. Its records are opaque (docs/developer/service-api.md, 4.4), so only lengths are read: of an
 * array, of a FeatureCollection's features, of a named member, else of all array members together. An object without
 * any is 0 (the contract's empty wildfire object); null and absent are `null`: nothing was said. So is a member that is
 * absent where others are there.
 *
 * @param member the member to count alone (wildfire's `current`, `historical`, `perimeters`), or null
 */
export function countRecords(details: unknown, member: string | null): number | null {
  if (details === null || details === undefined) return null;
  if (Array.isArray(details)) return details.length;
  if (typeof details !== 'object') return null;
  const object = details as Record<string, unknown>;
  if (member !== null) return Object.keys(object).length === 0 ? 0 : lengthOrNull(object[member]);
  if (Array.isArray(object.features)) return object.features.length;
  return Object.values(object).reduce<number>((sum, value) => sum + lengthOf(value), 0);
}

const lengthOrNull = (value: unknown): number | null => (Array.isArray(value) ? value.length : null);

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
