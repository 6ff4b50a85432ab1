import type { DataDatabase } from './data-database.ts';

/** Whether the air quality of two counties is of different years: then the dataset's vintage tells none of them. */
export function hasAirQualityYears(database: DataDatabase): boolean {
  return database.prepare<[], 0 | 1>('SELECT min(year) < max(year) FROM air_quality').pluck().get() === 1;
}

/** The year of each county's air quality, by its code. */
export function airQualityYears(database: DataDatabase): ReadonlyMap<string, number> {
  return new Map(database.prepare<[], [string, number]>('SELECT geoid, year FROM air_quality').raw().all());
}
