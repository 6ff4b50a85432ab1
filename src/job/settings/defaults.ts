/** The defaults of all settings that have one. They are applied last, after flags, environment and job file. */
export const DEFAULTS = {
  topics: 'natural',
  precision: 4,
  coverage: 'check',
  max_invalid: 0.05,
  prefix: '',
  subscription: 'starter',
  anniversary_day: 1,
  reserve: 0,
  spent_elsewhere: 0,
  optimize: 'credits',
  coordinates: 'strict',
  counts: true,
  details: 'drop',
  on_quota: 'stop',
  concurrency: 8,
  units: 'miles',
} as const;

/** One answer in a hundred is enough to find a wrong area column early. */
export const DEFAULT_VERIFY = 0.01;

/** An object without its undefined members, which would override defined ones in a spread. */
export function definedOnly<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
}

/** The units of distances by their symbols. */
export const UNITS_BY_SYMBOL: Readonly<Record<string, 'miles' | 'kilometers'>> = { mi: 'miles', km: 'kilometers' };
