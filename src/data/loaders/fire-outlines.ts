import Database from 'better-sqlite3';
import { type Box, boxOfGeometry, widenedBox } from '../../geo/bounding-boxes.ts';
import type { SiteRecord } from '../tables/records.ts';

/** What tells the outlines of one fire. */
export interface FireOutline {
  /** The agencies' id of the fire (IRWIN); '' for none. */
  readonly id: string;
  readonly name: string;
  /** Four digits; '' if unknown. */
  readonly year: string;
  /** When it was drawn, in milliseconds since the epoch; 0 if unknown. */
  readonly drawnAt: number;
}

/** Two outlines of one name and year within so many metres are of one fire: it grows, and maps of it differ. */
const ONE_FIRE_METERS = 2_000;

interface Snapshot extends FireOutline {
  readonly row: number;
  readonly box: Box;
}

/** Keeps of each fire its newest outline: agencies draw a fire again and again, and a place in it would lie in ten of one fire. The rows wait
 * in a temporary file that SQLite removes. */
export class FireOutlines implements Disposable {
  readonly #fires = new Map<string, Snapshot[]>();
  #database: Database.Database | null = null;
  #insert: Database.Statement<[number, string]> | null = null;
  #rows = 0;

  add(record: SiteRecord, outline: FireOutline): void {
    this.#insert ??= this.#open().prepare('INSERT INTO rows VALUES (?, ?)');
    this.#rows += 1;
    this.#insert.run(this.#rows, JSON.stringify(record));
    const name = outline.name
      .trim()
      .toUpperCase()
      .replace(/(?<!\s)\s+FIRE$/, '');
    // Without a name, a row without an id is a fire of its own.
    const key = name === '' ? outline.id || `row ${this.#rows}` : `${name} ${outline.year}`;
    const own = { ...outline, row: this.#rows, box: boxOfGeometry(record.geometry)! };
    this.#fires.set(key, [...(this.#fires.get(key) ?? []), own]);
  }

  /** The number of outlines of which their fire has a newer one; known after `records`. */
  earlier = 0;

  /** The newest outline of each fire, in the order of the rows. No row can be added any more. */
  *records(): Generator<SiteRecord> {
    if (this.#database === null) return;
    this.#database.exec('COMMIT');
    const newest = [...this.#fires.values()].flatMap(newestOfEach).sort((a, b) => a - b);
    this.earlier = this.#rows - newest.length;
    const rowOf = this.#database
      .prepare<[number], string>('SELECT row FROM rows WHERE number = ?')
      .pluck();
    for (const row of newest) yield JSON.parse(rowOf.get(row)!) as SiteRecord;
  }

  [Symbol.dispose](): void {
    this.#database?.close();
  }

  #open(): Database.Database {
    this.#database = new Database('');
    this.#database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
      CREATE TABLE rows (number INTEGER PRIMARY KEY, row TEXT NOT NULL); BEGIN`);
    return this.#database;
  }
}

/** The rows with the newest outline of each fire among those of one name and year: fires of one name in two places are two. */
function newestOfEach(snapshots: readonly Snapshot[]): number[] {
  const fires: Snapshot[][] = [];
  for (const snapshot of snapshots) {
    const touched = fires.filter((fire) => fire.some((other) => areOneFire(snapshot, other)));
    const others = fires.filter((fire) => !touched.includes(fire));
    fires.splice(0, fires.length, ...others, [...touched.flat(), snapshot]);
  }
  return fires.map((fire) => {
    // Of two of one time the later row counts.
    const [first, ...others] = fire.toSorted((a, b) => a.row - b.row) as [Snapshot, ...Snapshot[]];
    return others.reduce((last, one) => (one.drawnAt >= last.drawnAt ? one : last), first).row;
  });
}

function areOneFire(a: Snapshot, b: Snapshot): boolean {
  if (a.id !== '' && b.id !== '') return a.id === b.id;
  const near = widenedBox(a.box, ONE_FIRE_METERS);
  return (
    near.minLng <= b.box.maxLng &&
    near.maxLng >= b.box.minLng &&
    near.minLat <= b.box.maxLat &&
    near.maxLat >= b.box.minLat
  );
}
