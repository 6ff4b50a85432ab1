import { openDataReadOnly } from '../tables/data-database.ts';
import { createHeldVersion } from '../tables/data-version.ts';
import { createPlaceLookup, type LookupOptions, type PlaceLookup } from './place-lookup.ts';

/** Looks up places in one version of the data file. The opener disposes of it. */
export interface OpenPlaceLookup extends Disposable {
  readonly lookUp: PlaceLookup;
  /** The version of the data: equal for two handles that were opened on the same data. */
  readonly version: number;
}

/**
 * Opens the data file for a run: read-only, and in one read transaction until it is disposed of, so that all results are of one
 * version even if a dataset is replaced in the meantime. Each thread opens one of its own. A load that ends in the
 * meantime keeps its changes in the WAL file until then.
 *
 * @throws PerilbookError SERVICE_DATA when the file cannot be opened, is no database, or was written by a newer version
 */
export function openPlaceLookup(file: string, options: LookupOptions): OpenPlaceLookup {
  const database = openDataReadOnly(file);
  try {
    const version = createHeldVersion(database);
    database.exec('BEGIN');
    // The first read begins the transaction.
    version.read();
    return {
      lookUp: createPlaceLookup(database, options, version.held),
      version: version.held(),
      [Symbol.dispose]: () => void database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
