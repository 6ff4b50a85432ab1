import Database from 'better-sqlite3';

/** A feature that waits until a load has seen them all. Texts are without line breaks where JSON has none. */
export interface BufferedFeature {
  readonly identity: Buffer;
  /** The states of its parts, sorted, with commas between. */
  readonly parts: string;
  /** Its box and place as a JSON list. */
  readonly place: string;
  /** Its JSON up to the properties. */
  readonly head: string;
  readonly properties: string;
}

/**
 * The features of a load, each once: one that comes again in another file keeps its first row and belongs to the parts of both. Two equal
 * ones in one file are two. They go to a temporary file that SQLite removes, with 8 MB in memory: 300 MB of the Toxics Release
 * Inventory took 2 GB as objects.
 */
export class FeatureBuffer implements Disposable {
  #opened: ReturnType<typeof openBuffer> | null = null;

  /**
   * @param file the number of the file that it comes from; files come one after the other
   * @returns whether it is a new one
   */
  add(file: number, { identity, parts, place, head, properties }: BufferedFeature): boolean {
    // Opened by the first row: a load that is refused before it leaves nothing open.
    this.#opened ??= openBuffer();
    const { same, merge, insert } = this.#opened;
    const equal = same.all(identity);
    const known = equal.find((row) => row.file !== file);
    if (known === undefined) insert.run(identity, equal.length, file, parts, place, head, properties);
    else merge.run(file, joinedParts(known.parts, parts), known.number);
    return known === undefined;
  }

  /** In the order in which they were added. */
  *features(): Generator<BufferedFeature> {
    if (this.#opened === null) return;
    yield* this.#opened.database
      .prepare<[], BufferedFeature>('SELECT identity, parts, place, head, properties FROM features ORDER BY number')
      .iterate();
  }

  [Symbol.dispose](): void {
    this.#opened?.database.close();
    this.#opened = null;
  }
}

function openBuffer() {
  const database = new Database('');
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
    CREATE TABLE features (
      number INTEGER PRIMARY KEY, identity BLOB NOT NULL, occurrence INTEGER NOT NULL, file INTEGER NOT NULL, parts TEXT NOT NULL,
      place TEXT NOT NULL, head TEXT NOT NULL, properties TEXT NOT NULL, UNIQUE (identity, occurrence)
    ); BEGIN`);
  return {
    database,
    same: database.prepare<[Buffer], { readonly number: number; readonly file: number; readonly parts: string }>(
      'SELECT number, file, parts FROM features WHERE identity = ? ORDER BY occurrence',
    ),
    merge: database.prepare('UPDATE features SET file = ?, parts = ? WHERE number = ?'),
    insert: database.prepare(
      'INSERT INTO features (identity, occurrence, file, parts, place, head, properties) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
  };
}

function joinedParts(a: string, b: string): string {
  return a === b ? a : [...new Set([...a.split(','), ...b.split(',')])].filter(Boolean).sort().join();
}
