import Database from 'better-sqlite3';
import type { Geometry } from 'geojson';
import type { SiteRecord } from '../tables/records.ts';
import { type PropertyFinder, propertyFinder } from './named-columns.ts';

/** Of files that have several rows for a site. */
export interface GroupColumns {
  /** What names the site. */
  readonly id: readonly string[];
  /** What each row has of its own, and the site as a list. */
  readonly lists: readonly string[];
}

/** Rows gathered by site: the properties in which they all agree are the site's. */
export interface SiteGroups {
  /** False when the row does not say which site it is of. */
  add(record: SiteRecord): boolean;
  /** The sites, in the order in which their first rows came. */
  records(): Generator<SiteRecord>;
  dispose(): void;
}

/** A row as it waits: its geometry, and its properties with the numbers of their names. */
type PackedRow = readonly [Geometry, readonly (readonly [name: number, value: unknown])[]];

/**
 * Gathers rows in a temporary file, of which SQLite keeps 8 MB in memory and which it removes: held in memory, 300 MB of the Toxics
 * Release Inventory took 2 GB. In memory are the names of the sites and of the columns.
 */
export function createSiteGroups({ id, lists }: GroupColumns): SiteGroups {
  const idOf = propertyFinder(id);
  const finders = lists.map((list) => propertyFinder([list]));
  const sites = new Map<string, number>();
  const names: string[] = [];
  const numbers = new Map<string, number>();
  let rows: Database.Database | null = null;
  let insert: Database.Statement | null = null;

  /** Made when it is needed: a load that is refused at its beginning leaves nothing open. */
  function opened(): Database.Database {
    rows = new Database('');
    rows.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
      CREATE TABLE rows (number INTEGER PRIMARY KEY, site INTEGER NOT NULL, row TEXT NOT NULL); BEGIN`);
    insert = rows.prepare('INSERT INTO rows (site, row) VALUES (?, ?)');
    return rows;
  }

  function numberOf(name: string): number {
    let number = numbers.get(name);
    if (number === undefined) {
      number = names.push(name) - 1;
      numbers.set(name, number);
    }
    return number;
  }

  return {
    add({ geometry, properties }) {
      const key = idOf(properties);
      if (key === null) return false;
      const name = String(properties[key]);
      let site = sites.get(name);
      if (site === undefined) {
        site = sites.size;
        // Copied: a piece of a longer text would keep the whole of it in memory.
        sites.set(Buffer.from(name).toString(), site);
      }
      const packed: PackedRow = [
        geometry,
        Object.entries(properties).map(([property, value]) => [numberOf(property), value]),
      ];
      if (rows === null) opened();
      insert!.run(site, JSON.stringify(packed));
      return true;
    },
    *records() {
      if (rows === null) return;
      rows.exec('COMMIT; CREATE INDEX rows_by_site ON rows (site)');
      const select = rows.prepare<[number], string>('SELECT row FROM rows WHERE site = ? ORDER BY number').pluck();
      const count = sites.size;
      sites.clear();
      for (let site = 0; site < count; site++) {
        const own = select.all(site).map((row) => JSON.parse(row) as PackedRow);
        const properties = own.map(([, packed]) =>
          Object.fromEntries(packed.map(([name, value]) => [names[name]!, value])),
        );
        yield { geometry: own[0]![0], properties: siteOf(properties, finders) };
      }
    },
    dispose() {
      rows?.close();
      rows = null;
    },
  };
}

function siteOf(rows: readonly Record<string, unknown>[], lists: readonly PropertyFinder[]): Record<string, unknown> {
  const [first, ...others] = rows as [Record<string, unknown>];
  const agreed = Object.entries(first).filter(([name, value]) => others.every((row) => row[name] === value));
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
