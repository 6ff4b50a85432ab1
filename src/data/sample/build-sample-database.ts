import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import { hasSystemCode } from '../../errors.ts';
import { type DataDatabase, openDataDatabase } from '../tables/data-database.ts';
import { describeData } from '../tables/describe-data.ts';
import { importDataset } from '../tables/import-dataset.ts';
import type { Dataset } from '../tables/records.ts';
import { sampleDatasets } from './sample-datasets.ts';

/** All sample data is the same. */
const SEED = 1;

/** Monitors report hourly. */
const READINGS_FRESH_MS = 3_600_000;

/** Makes a database of sample data, about 100 MB in about 5 s. It is built in a temporary file and linked into place;
 * if another process was faster, its file stays, because it may already be open. */
export function buildSampleDatabase(file: string, clock: Clock, unique: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const building = `${file}.${unique}.tmp`;
  try {
    const database = openDataDatabase(building);
    try {
      // A power cut loses only what was not linked yet.
      database.pragma('synchronous = OFF');
      importSample(database, clock);
    } finally {
      database.close();
    }
    flushToDisk(building);
    linkSync(building, file);
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error;
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(building + suffix, { force: true });
  }
}

function flushToDisk(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function importSample(database: DataDatabase, clock: Clock): void {
  importGenerated(database, clock, () => true);
}

/** Renews the near real-time readings: a database made last week would answer with last week's air. */
export function refreshSampleReadings(database: DataDatabase, clock: Clock): void {
  const readings = describeData(database).datasets.find(({ name }) => name === 'readings');
  if (!readings?.sample || Math.abs(clock.now() - readings.loadedAt) < READINGS_FRESH_MS) return;
  importGenerated(database, clock, ({ kind }) => kind === 'readings');
}

function importGenerated(database: DataDatabase, clock: Clock, isWanted: (dataset: Dataset) => boolean): void {
  for (const dataset of sampleDatasets({ seed: SEED, now: clock.now() })) {
    if (isWanted(dataset)) importDataset(database, dataset, clock);
  }
}
