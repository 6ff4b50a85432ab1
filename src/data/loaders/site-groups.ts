import Database from 'better-sqlite3';
import type { Geometry } from 'geojson';
import type { SiteRecord } from '../tables/records.ts';
import { type PropertyFinder, propertyFinder } from './agency-table.ts';

export interface GroupColumns {
  /** Names of the column that identifies the site. */
  readonly id: readonly string[];
  /** Columns in which the rows differ; the site gets their values as a list. */
  readonly lists: readonly string[];
}

/** A row in the buffer: its geometry, and its properties with the numbers of their names. */
type PackedRow = readonly [Geometry, readonly (readonly [name: number, value: unknown])[]];

/** Groups rows by site. The names of the sites and of the columns are in memory; the rows wait in a temporary file that SQLite removes,
 * with 8 MB in memory: 300 MB of the Toxics Release Inventory took 2 GB as objects. */
export class SiteGroups implements Disposable {
  readonly #idOf: PropertyFinder;
  readonly #lists: readonly PropertyFinder[];
  readonly #sites = new Map<string, number>();
  readonly #names = new Map<string, number>();
  #database: Database.Database | null = null;
  #insert: Database.Statement<[number, string]> | null = null;

  constructor({ id, lists }: GroupColumns) {
    this.#idOf = propertyFinder(id);
    this.#lists = lists.map((list) => propertyFinder([list]));
  }

  /** False when the row names no site. */
  add({ geometry, properties }: SiteRecord): boolean {
    const key = this.#idOf(properties);
    if (key === null) return false;
    const packed: PackedRow = [
      geometry,
      Object.entries(properties).map(([name, value]) => [assignNumber(this.#names, name), value]),
    ];
    this.#insert ??= this.#open().prepare('INSERT INTO rows (site, row) VALUES (?, ?)');
    this.#insert.run(assignNumber(this.#sites, String(properties[key])), JSON.stringify(packed));
    return true;
  }

  /** The sites in the order of their first rows, each with the properties that all of its rows share. No row can be added any more. */
  *records(): Generator<SiteRecord> {
    if (this.#database === null) return;
    this.#database.exec('COMMIT; CREATE INDEX rows_by_site ON rows (site)');
    const sites = this.#database
      .prepare<[], number>('SELECT DISTINCT site FROM rows ORDER BY 1')
      .pluck();
    const rowsOf = this.#database
      .prepare<[number], string>('SELECT row FROM rows WHERE site = ? ORDER BY number')
      .pluck();
    const names = [...this.#names.keys()];
    for (const site of sites.iterate()) {
      const packed = rowsOf.all(site).map((row) => JSON.parse(row) as PackedRow);
      const properties = packed.map(([, values]) =>
        Object.fromEntries(values.map(([name, value]) => [names[name]!, value])),
      );
      const key = String(properties[0]![this.#idOf(properties[0]!)!]);
      yield { key, geometry: packed[0]![0], properties: makeSite(properties, this.#lists) };
    }
  }

  [Symbol.dispose](): void {
    this.#database?.close();
  }

  /** Opened by the first row: a load that is refused before it leaves nothing open. */
  #open(): Database.Database {
    this.#database = new Database('');
    this.#database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
      CREATE TABLE rows (number INTEGER PRIMARY KEY, site INTEGER NOT NULL, row TEXT NOT NULL); BEGIN`);
    return this.#database;
  }
}

/** The number of a name, in the order in which names come. */
function assignNumber(numbers: Map<string, number>, name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = numbers.size;
    // Copied: a slice of a longer text would keep the whole text in memory.
    numbers.set(Buffer.from(name).toString(), number);
  }
  return number;
}

function makeSite(
  rows: readonly Record<string, unknown>[],
  lists: readonly PropertyFinder[],
): Record<string, unknown> {
  const [first, ...others] = rows as [Record<string, unknown>];
  const agreed = Object.entries(first).filter(([name, value]) =>
    others.every((row) => row[name] === value),
  );
  const listed = lists.flatMap((find) => {
    const values = new Set<unknown>();
    let column: string | null = null;
    for (const row of rows) {
      const name = find(row);
      if (name === null) continue;
      column = name;
      values.add(row[name]);
    }
    return column === null ? [] : [[column, [...values]] as const];
  });
  return Object.fromEntries([...agreed, ...listed]);
}
