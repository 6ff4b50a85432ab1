import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import { hasSystemCode } from '../../errors.ts';
import { openServiceDatabase, type ServiceDatabase } from '../data/database.ts';
import { deliver } from '../data/deliver.ts';
import { describeData } from '../data/describe-data.ts';
import { sampleDeliveries } from './deliveries.ts';

/** Everyone who says "sample data" means the same data. */
const SEED = 1;

/** Monitors report by the hour. */
const READINGS_FRESH_MS = 3_600_000;

/**
 * Makes the service's database with sample data, about 100 MB in about 3 s. It is made beside the file and put in place
 * whole; where another process was faster, its file stands, for it may be open already.
 */
export function buildSampleDatabase(file: string, clock: Clock, unique: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const building = `${file}.${unique}.tmp`;
  try {
    const database = openServiceDatabase(building);
    try {
      deliverSample(database, clock);
    } finally {
      database.close();
    }
    linkSync(building, file);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(building + suffix, { force: true });
  }
}

/** Puts all sample data into a database. */
export function deliverSample(database: ServiceDatabase, clock: Clock): void {
  for (const delivery of sampleDeliveries({ seed: SEED, now: clock.now() })) deliver(database, delivery, clock);
}

/** Measures again what is "near real-time": a database that was made last week would answer with last week's air. */
export function refreshSampleReadings(database: ServiceDatabase, clock: Clock): void {
  const readings = describeData(database).datasets.find(({ name }) => name === 'readings');
  if (!readings?.sample || Math.abs(clock.now() - readings.loadedAt) < READINGS_FRESH_MS) return;
  for (const delivery of sampleDeliveries({ seed: SEED, now: clock.now() })) {
    if (delivery.kind === 'readings') deliver(database, delivery, clock);
  }
}
