import { closeSync, fsyncSync, linkSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { hasSystemCode } from '../../errors.ts';
import { loadFilesAtOnce } from '../loaders/load-files.ts';
import { type DataDatabase, openDataDatabase } from '../tables/data-database.ts';
import { describeData } from '../tables/describe-data.ts';
import type { Dataset } from '../tables/records.ts';
import { writeAgencyFiles } from './agency-files.ts';
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

/** Imports all sample data: written as the agencies' files, and loaded from them. */
export function importSample(database: DataDatabase, clock: Clock): void {
  loadSample(database, clock, () => true);
}

/** Renews the near real-time readings: a database made last week would answer with last week's air. */
export function refreshSampleReadings(database: DataDatabase, clock: Clock): void {
  const readings = describeData(database).datasets.find(({ name }) => name === 'readings');
  if (!readings?.sample || Math.abs(clock.now() - readings.loadedAt) < READINGS_FRESH_MS) return;
  loadSample(database, clock, ({ kind }) => kind === 'readings');
}

function loadSample(database: DataDatabase, clock: Clock, wanted: (dataset: Dataset) => boolean): void {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-sample-'));
  try {
    for (const dataset of sampleDatasets({ seed: SEED, now: clock.now() })) {
      if (!wanted(dataset)) continue;
      const { loader, files, sites } = writeAgencyFiles(dataset, folder);
      const { source, vintage, licence, sample } = dataset.info;
      const options = { source, vintage, licence, sample, allLevels: true, ...(sites === undefined ? {} : { sites }) };
      loadFilesAtOnce(database, loader, files, options, clock);
      for (const file of [...files, ...(sites === undefined ? [] : [sites])]) rmSync(file);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
