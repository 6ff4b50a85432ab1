import Database from 'better-sqlite3';

/** A feature that waits until a load has read all of them. Its JSON has no line breaks. */
export interface BufferedFeature {
  readonly identity: Buffer;
  /** The states of its parts, sorted, with commas between. */
  readonly parts: string;
  /** Its unit (published-units.ts). */
  readonly unit: string;
  /** Its box, and the coordinates of a point, as a JSON list. */
  readonly bounds: string;
  /** Its JSON up to the properties. */
  readonly head: string;
  readonly properties: string;
}

/** The features of a load, each once: one in two files keeps its first row and belongs to the parts of both; two equal ones in one file are
 * two. They are in a temporary file that SQLite removes, with 8 MB in memory: 300 MB of the Toxics Release Inventory took 2 GB as objects. */
export class FeatureBuffer implements Disposable {
  #opened: ReturnType<typeof openBuffer> | null = null;
  #firstFile = 0;
  #isIndexed = false;

  /** @param file the number of the file that it comes from; files come one after the other
   * @returns whether the feature is new */
  add(file: number, { identity, parts, unit, bounds, head, properties }: BufferedFeature): boolean {
    // Opened by the first row: a load that is refused before it leaves nothing open.
    this.#opened ??= openBuffer();
    const { insert } = this.#opened;
    if (this.#firstFile === 0) this.#firstFile = file;
    const same = file === this.#firstFile ? undefined : this.#sameIn(file, identity);
    if (same === undefined) insert.run(identity, file, parts, unit, bounds, head, properties);
    else this.#opened.merge.run(file, joinedParts(same.parts, parts), same.number);
    return same === undefined;
  }

  *features(): Generator<BufferedFeature> {
    if (this.#opened === null) return;
    yield* this.#opened.database
      .prepare<[], BufferedFeature>(
        'SELECT identity, parts, unit, bounds, head, properties FROM features ORDER BY number',
      )
      .iterate();
  }

  [Symbol.dispose](): void {
    this.#opened?.database.close();
    this.#opened = null;
  }

  /** The first equal feature that this file does not have yet. */
  #sameIn(file: number, identity: Buffer) {
    const { database, same } = this.#opened!;
    // An index from the start took as long as the rest of the load, and most loads have one file.
    if (!this.#isIndexed) database.exec('CREATE INDEX features_by_identity ON features (identity)');
    this.#isIndexed = true;
    return same.get(identity, file);
  }
}

function openBuffer() {
  const database = new Database('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
    CREATE TABLE features (
      number INTEGER PRIMARY KEY, identity BLOB NOT NULL, file INTEGER NOT NULL, parts TEXT NOT NULL,
      unit TEXT NOT NULL, bounds TEXT NOT NULL, head TEXT NOT NULL, properties TEXT NOT NULL
    ); BEGIN`);
  return {
    database,
    same: database.prepare<[Buffer, number], { number: number; parts: string }>(
      'SELECT number, parts FROM features WHERE identity = ? AND file <> ? ORDER BY number LIMIT 1',
    ),
    merge: database.prepare('UPDATE features SET file = ?, parts = ? WHERE number = ?'),
    insert: database.prepare(
      'INSERT INTO features (identity, file, parts, unit, bounds, head, properties) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
  };
}

function joinedParts(a: string, b: string): string {
  return a === b
    ? a
    : [...new Set([...a.split(','), ...b.split(',')])].filter(Boolean).sort().join();
}
