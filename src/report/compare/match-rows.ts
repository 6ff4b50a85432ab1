import type { TopicSlug } from '../../contract/topics.ts';
import { openTemporarySqlite } from '../../sqlite/open-database.ts';
import { ClassSums } from '../class-sums.ts';
import { CLASS_LETTERS, type RowsAndValue } from '../figures.ts';
import { HIGHEST, unansweredClass } from '../scales.ts';
import type { ComparedRow, Comparison, TopicChanges } from './comparison.ts';

const EXAMPLES = 10;

type Side = AsyncIterable<readonly ComparedRow[]>;

type Matched = Pick<Comparison, 'before' | 'now' | 'added' | 'gone' | 'relocated' | 'topics'>;

const TABLES = `
  CREATE TABLE earlier_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, classes TEXT);
  CREATE TABLE current_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, classes TEXT)`;

/** The rows of one place, or with one id, are told apart by their order. */
const NUMBERED = `
  CREATE TABLE earlier AS SELECT *, rowid AS position, row_number() OVER (PARTITION BY key ORDER BY rowid) AS n FROM earlier_rows;
  CREATE TABLE current AS SELECT *, rowid AS position, row_number() OVER (PARTITION BY key ORDER BY rowid) AS n FROM current_rows;
  CREATE INDEX earlier_by_key ON earlier (key, n);
  CREATE INDEX current_by_key ON current (key, n)`;

/**
 * Matches the rows of both sides in a temporary SQLite file: maps of millions of keys would not fit into memory.
 * Both sides are read once.
 */
export async function matchRows(earlier: Side, current: Side, topics: readonly TopicSlug[]): Promise<Matched> {
  using database = openTemporarySqlite();
  database.exec(TABLES);
  const fill = async (table: 'earlier_rows' | 'current_rows', rows: Side) => {
    const insert = database.prepare(`INSERT INTO ${table} VALUES (@key, @line, @part, @place, @value, @classes)`);
    const insertAll = database.transaction((batch: readonly ComparedRow[]) => {
      for (const row of batch) insert.run(row);
    });
    for await (const batch of rows) insertAll(batch);
  };
  await fill('earlier_rows', earlier);
  await fill('current_rows', current);
  database.exec(NUMBERED);
  const sums = topics.map((slug) => new TopicSums(slug));
  const [before, now, relocated] = [none(), none(), none()];
  for (const { value, classes } of all<ComparedRow>('SELECT value, classes FROM earlier')) {
    count(before, value);
    for (const [index, topic] of sums.entries()) topic.before.add(classAt(classes, index), 1, value);
  }
  const pairs = all<ComparedRow & { was: string | null; placeThen: string | null }>(
    `SELECT c.value, c.classes, c.place, e.classes AS was, e.place AS placeThen
     FROM current c LEFT JOIN earlier e ON e.key = c.key AND e.n = c.n`,
  );
  for (const { value, classes, place, was, placeThen } of pairs) {
    count(now, value);
    if (was !== null && place !== placeThen) count(relocated, value);
    for (const [index, topic] of sums.entries()) {
      topic.now.add(classAt(classes, index), 1, value);
      if (was !== null) topic.compare(classAt(was, index), classAt(classes, index), value);
    }
  }
  const onlyIn = (table: string, other: string) => {
    const missing = `FROM ${table} a WHERE NOT EXISTS (SELECT 1 FROM ${other} b WHERE b.key = a.key AND b.n = a.n)`;
    const total = database.prepare(`SELECT count(*) AS rows, total(value) AS value ${missing}`).get() as RowsAndValue;
    const examples = all<ComparedRow>(`SELECT key, line, part ${missing} ORDER BY a.position LIMIT ${EXAMPLES}`);
    const placed = [...examples].map(({ part, ...row }) => (part === null ? row : { ...row, part }));
    return { ...total, examples: placed };
  };
  return {
    ...{ before, now, relocated },
    added: onlyIn('current', 'earlier'),
    gone: onlyIn('earlier', 'current'),
    topics: sums.map((topic) => topic.changes()),
  };

  function all<Row>(sql: string): IterableIterator<Row> {
    return database.prepare(sql).iterate() as IterableIterator<Row>;
  }
}

const UNANSWERED = unansweredClass(HIGHEST);

const none = () => ({ rows: 0, value: 0 });

function count(sum: { rows: number; value: number }, value: number): void {
  sum.rows++;
  sum.value += value;
}

const classAt = (classes: string, index: number): number => CLASS_LETTERS.indexOf(classes[index]!);

class TopicSums {
  readonly #slug: TopicSlug;
  readonly before = new ClassSums(HIGHEST.classes.length);
  readonly now = new ClassSums(HIGHEST.classes.length);
  readonly #moved = new Map<string, { from: string; to: string; rows: number; value: number }>();
  readonly #newlyAnswered = none();
  readonly #noLongerAnswered = none();

  constructor(slug: TopicSlug) {
    this.#slug = slug;
  }

  compare(was: number, is: number, value: number): void {
    if (was === is) return;
    // No answer is not a rating: these rows did not move.
    if (was === UNANSWERED) {
      count(this.#newlyAnswered, value);
      return;
    }
    if (is === UNANSWERED) {
      count(this.#noLongerAnswered, value);
      return;
    }
    const key = `${was} ${is}`;
    const sum = this.#moved.get(key) ?? { from: nameOf(was), to: nameOf(is), ...none() };
    count(sum, value);
    this.#moved.set(key, sum);
  }

  changes(): TopicChanges {
    return {
      slug: this.#slug,
      before: this.before.distribution(HIGHEST),
      now: this.now.distribution(HIGHEST),
      moved: [...this.#moved.values()].sort((a, b) => b.rows - a.rows),
      newlyAnswered: this.#newlyAnswered,
      noLongerAnswered: this.#noLongerAnswered,
    };
  }
}

function nameOf(index: number): string {
  return HIGHEST.classes[index]!.name;
}
