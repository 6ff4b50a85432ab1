import type { DataDatabase } from './data-database.ts';
import { type Layer, membersOf, tableOf } from './layers.ts';
import { type DatasetPart, WHOLE_US } from './parts.ts';
import type { ReadingRecord, SiteRecord } from './records.ts';

export interface KeptRecords {
  /** Whether the records in a state stay, for records with one state each; '' is the sea. */
  readonly inState: (state: string) => boolean;
  /** The parts of a record that stay; `states` returns the states in which it lies. */
  readonly partsOf: (parts: readonly string[], states: () => readonly string[]) => readonly string[];
}

/** Keeps the parts that are not loaded again, and of the whole US the records in other states. */
export function keptBesides(loaded: ReadonlySet<string>): KeptRecords {
  const isReplaced = (states: readonly string[]) => states.length > 0 && states.every((state) => loaded.has(state));
  return {
    inState: (state) => !loaded.has(state),
    partsOf: (parts, states) =>
      parts.filter((part) => !loaded.has(part) && !(part === WHOLE_US && isReplaced(states()))),
  };
}

/** Keeps the parts that are not removed. */
export function keptWithout(removed: ReadonlySet<string>, parts: readonly DatasetPart[]): KeptRecords {
  const states = new Set(parts.map(({ state }) => state));
  return {
    inState: (state) => !removed.has(states.has(state) ? state : WHOLE_US),
    partsOf: (own) => own.filter((part) => !removed.has(part)),
  };
}

/** The state codes, two digits, with which the geoids of a table begin. */
export function statesOfGeoids(database: DataDatabase, table: string): string[] {
  return database.prepare<[], string>(`SELECT DISTINCT substr(geoid, 1, 2) FROM ${table} ORDER BY 1`).pluck().all();
}

/** A stored record, with its parts if it may be in several. */
export interface StoredRecord {
  readonly record: object;
  readonly identity?: Buffer;
  readonly parts?: readonly string[];
}

/** The stored readings. */
export function storedReadings(database: DataDatabase): StoredRecord[] {
  return database
    .prepare<[], ReadingRecord>(
      'SELECT pollutant, monitor, lat, lng, concentration, measured_at AS measuredAt FROM reading_boxes',
    )
    .all()
    .map((record) => ({ record }));
}

type MemberRow = { readonly id: number; readonly identity: Buffer; readonly parts: string };

/** The records of a layer, in the order of their ids. One by one, because an R*Tree is fast by id but reads all rows for a range of ids,
 * and because the same connection writes in between. */
export function* storedFeatures(database: DataDatabase, layer: Layer): Generator<StoredRecord> {
  const table = tableOf(layer);
  if (database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) === undefined) return;
  const members = database
    .prepare<[], MemberRow>(`SELECT id, identity, parts FROM ${membersOf(layer)} ORDER BY id`)
    .all();
  const featureOf = database.prepare<[number], string>(`SELECT feature FROM ${table} WHERE id = ?`).pluck();
  for (const { id, identity, parts } of members) {
    yield { record: JSON.parse(featureOf.get(id)!) as SiteRecord, identity, parts: parts.split(',') };
  }
}
