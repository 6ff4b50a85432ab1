import type { Geometry } from 'geojson';
import type { SiteRecord } from '../tables/records.ts';
import { RowBuffer } from '../tables/row-buffer.ts';
import { type PropertyFinder, propertyFinder } from './agency-table.ts';

/** The columns of a file that has several rows for a site. */
export interface GroupColumns {
  /** Names of the column that identifies the site. */
  readonly id: readonly string[];
  /** Columns in which the rows differ; the site gets their values as a list. */
  readonly lists: readonly string[];
}

/** A row in the buffer: its geometry, and its properties with the numbers of their names. */
type PackedRow = readonly [Geometry, readonly (readonly [name: number, value: unknown])[]];

/** Groups rows by site. The names of the sites and of the columns are in memory, the rows in a buffer on disk. */
export class SiteGroups implements Disposable {
  readonly #idOf: PropertyFinder;
  readonly #lists: readonly PropertyFinder[];
  readonly #sites = new Map<string, number>();
  readonly #names = new Map<string, number>();
  readonly #rows = new RowBuffer();

  constructor({ id, lists }: GroupColumns) {
    this.#idOf = propertyFinder(id);
    this.#lists = lists.map((list) => propertyFinder([list]));
  }

  /** False when the row does not say which site it belongs to. */
  add({ geometry, properties }: SiteRecord): boolean {
    const key = this.#idOf(properties);
    if (key === null) return false;
    const packed: PackedRow = [
      geometry,
      Object.entries(properties).map(([name, value]) => [numberOf(this.#names, name), value]),
    ];
    this.#rows.add(numberOf(this.#sites, String(properties[key])), JSON.stringify(packed));
    return true;
  }

  /** The sites in the order of their first rows, each with the properties that all of its rows share. */
  *records(): Generator<SiteRecord> {
    const names = [...this.#names.keys()];
    this.#sites.clear();
    for (const rows of this.#rows.groups()) {
      const packed = rows.map((row) => JSON.parse(row) as PackedRow);
      const properties = packed.map(([, values]) =>
        Object.fromEntries(values.map(([name, value]) => [names[name]!, value])),
      );
      const key = String(properties[0]![this.#idOf(properties[0]!)!]);
      yield { key, geometry: packed[0]![0], properties: siteOf(properties, this.#lists) };
    }
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]();
  }
}

/** The number of a name, in the order in which names come. */
function numberOf(numbers: Map<string, number>, name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = numbers.size;
    // Copied: a slice of a longer text would keep the whole text in memory.
    numbers.set(Buffer.from(name).toString(), number);
  }
  return number;
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
