import Database from 'better-sqlite3';

/**
 * Rows of text that wait until a load has seen them all, in groups. They go to a temporary file that SQLite removes, with
 * 8 MB in memory: 300 MB of the Toxics Release Inventory took 2 GB as objects.
 */
export class RowBuffer implements Disposable {
  #database: Database.Database | null = null;
  #insert: Database.Statement<[number, string]> | null = null;

  add(group: number, row: string): void {
    this.#insert ??= this.#open().prepare('INSERT INTO rows (row_group, row) VALUES (?, ?)');
    this.#insert.run(group, row);
  }

  /** The rows of each group, by the group's number. No row can be added any more. */
  *groups(): Generator<string[]> {
    if (this.#database === null) return;
    this.#database.exec('COMMIT; CREATE INDEX rows_by_group ON rows (row_group)');
    const groups = this.#database.prepare<[], number>('SELECT DISTINCT row_group FROM rows ORDER BY 1').pluck();
    const rows = this.#database.prepare<[number], string>('SELECT row FROM rows WHERE row_group = ? ORDER BY number');
    for (const group of groups.iterate()) yield rows.pluck().all(group);
  }

  [Symbol.dispose](): void {
    this.#database?.close();
    this.#database = null;
  }

  /** Opened by the first row: a load that is refused before it leaves nothing open. */
  #open(): Database.Database {
    this.#database = new Database('');
    this.#database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192;
      CREATE TABLE rows (number INTEGER PRIMARY KEY, row_group INTEGER NOT NULL, row TEXT NOT NULL); BEGIN`);
    return this.#database;
  }
}
