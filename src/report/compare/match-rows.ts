import type { TopicSlug } from '../../contract/topics.ts';
import { openTemporarySqlite } from '../../sql/open-sqlite.ts';
import { CLASS_LETTERS, HIGHEST, unansweredClass } from '../scales.ts';
import { ClassSums } from '../sums.ts';
import type { ComparedRow, ComparedSum, Comparison, TopicChanges } from './comparison.ts';

const EXAMPLES = 10;

type Side = AsyncIterable<readonly ComparedRow[]>;

type Matched = Pick<Comparison, 'before' | 'now' | 'added' | 'gone' | 'relocated' | 'topics'>;

const TABLES = `
  CREATE TABLE earlier_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, otherCurrency TEXT, classes TEXT);
  CREATE TABLE current_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, otherCurrency TEXT, classes TEXT)`;

/** The order of a row among those with its key at its place. */
const atPlace = (table: string) => `
  CREATE TABLE ${table}_at_place AS
    SELECT *, rowid AS position, row_number() OVER (PARTITION BY key, place ORDER BY rowid) AS nth FROM ${table}_rows;
  DROP TABLE ${table}_rows;
  CREATE INDEX ${table}_by_place ON ${table}_at_place (key, place, nth)`;

/** `n` tells the rows with one key apart. */
const numbered = (table: string, other: string) => `
  CREATE TABLE ${table} AS
    SELECT *, iif(stays, place || ' ' || nth, row_number() OVER (PARTITION BY key, stays ORDER BY position)) AS n
    FROM (SELECT a.*, EXISTS (SELECT 1 FROM ${other}_at_place b WHERE b.key = a.key AND b.place = a.place AND b.nth = a.nth) AS stays
          FROM ${table}_at_place a);
  CREATE INDEX ${table}_by_key ON ${table} (key, n)`;

/** Several rows may have one key: a policy has several locations. Rows that stay at their place are matched first and the others by
 * their order: by order alone, a row that is removed would make all behind it look moved. */
const NUMBERED = [
  ...[atPlace('earlier'), atPlace('current')],
  ...[numbered('earlier', 'current'), numbered('current', 'earlier')],
  'DROP TABLE earlier_at_place; DROP TABLE current_at_place',
].join(';');

/**
 * Matches the rows of both sides in a temporary SQLite file: maps of millions of keys would not fit into memory.
 * Both sides are read once.
 */
export async function matchRows(earlier: Side, current: Side, topics: readonly TopicSlug[]): Promise<Matched> {
  using database = openTemporarySqlite();
  database.exec(TABLES);
  const fill = async (table: 'earlier_rows' | 'current_rows', rows: Side) => {
    const insert = database.prepare(
      `INSERT INTO ${table} VALUES (@key, @line, @part, @place, @value, @otherCurrency, @classes)`,
    );
    const insertAll = database.transaction((batch: readonly ComparedRow[]) => {
      for (const row of batch) insert.run(row);
    });
    for await (const batch of rows) insertAll(batch);
  };
  await fill('earlier_rows', earlier);
  await fill('current_rows', current);
  database.exec(NUMBERED);
  const sums = topics.map((slug) => new TopicSums(slug));
  const [before, now, relocated] = [new ComparedSums(), new ComparedSums(), new ComparedSums()];
  const earlierRows = all<Pick<ComparedRow, 'value' | 'otherCurrency' | 'classes'>>(
    'SELECT value, otherCurrency, classes FROM earlier',
  );
  for (const row of earlierRows) {
    before.add(row);
    for (const [index, topic] of sums.entries()) topic.before.add(classAt(row.classes, index), 1, countedValue(row));
  }
  const pairs = all<ComparedRow & { was: string | null; placeThen: string | null }>(
    `SELECT c.value, c.otherCurrency, c.classes, c.place, e.classes AS was, e.place AS placeThen
     FROM current c LEFT JOIN earlier e ON e.key = c.key AND e.n = c.n`,
  );
  for (const row of pairs) {
    const { classes, place, was, placeThen } = row;
    const value = countedValue(row);
    now.add(row);
    if (was !== null && place !== placeThen) relocated.add(row);
    for (const [index, topic] of sums.entries()) {
      topic.now.add(classAt(classes, index), 1, value);
      if (was !== null) topic.compare(classAt(was, index), classAt(classes, index), value);
    }
  }
  const onlyIn = (table: string, other: string) => {
    const missing = `FROM ${table} a WHERE NOT EXISTS (SELECT 1 FROM ${other} b WHERE b.key = a.key AND b.n = a.n)`;
    const total = new ComparedSums();
    for (const row of all<ComparedRow>(`SELECT value, otherCurrency ${missing}`)) total.add(row);
    const examples = all<ComparedRow>(`SELECT key, line, part ${missing} ORDER BY a.position LIMIT ${EXAMPLES}`);
    const placed = [...examples].map(({ part, ...row }) => (part === null ? row : { ...row, part }));
    return { ...total.sum(), examples: placed };
  };
  return {
    ...{ before: before.sum(), now: now.sum(), relocated: relocated.sum() },
    added: onlyIn('current', 'earlier'),
    gone: onlyIn('earlier', 'current'),
    topics: sums.map((topic) => topic.changes()),
  };

  function all<Row>(sql: string): IterableIterator<Row> {
    return database.prepare(sql).iterate() as IterableIterator<Row>;
  }
}

const UNANSWERED = unansweredClass(HIGHEST);

type Valued = Pick<ComparedRow, 'value' | 'otherCurrency'>;

/** The value in the currency of the comparison; 0 for none. */
function countedValue({ value, otherCurrency }: Valued): number {
  return otherCurrency === null ? (value ?? 0) : 0;
}

class ComparedSums {
  #rows = 0;
  #withoutValue = 0;
  /** By currency; null is that of the comparison. */
  readonly #totals = new Map<string | null, { rows: number; value: number }>();

  add({ value, otherCurrency }: Valued): void {
    this.#rows++;
    if (value === null) {
      this.#withoutValue++;
      return;
    }
    const total = this.#totals.get(otherCurrency) ?? none();
    count(total, value);
    this.#totals.set(otherCurrency, total);
  }

  sum(): ComparedSum {
    const others = [...this.#totals].flatMap(([code, total]) =>
      code === null ? [] : [{ currency: code || null, ...total }],
    );
    return {
      rows: this.#rows,
      value: this.#totals.get(null)?.value ?? (this.#rows === 0 ? 0 : null),
      withoutValue: this.#withoutValue,
      others: others.sort((a, b) => b.rows - a.rows),
    };
  }
}

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
      before: { rows: [...this.before.rows], value: [...this.before.value] },
      now: { rows: [...this.now.rows], value: [...this.now.value] },
      moved: [...this.#moved.values()].sort((a, b) => b.rows - a.rows),
      newlyAnswered: this.#newlyAnswered,
      noLongerAnswered: this.#noLongerAnswered,
    };
  }
}

function nameOf(index: number): string {
  return HIGHEST.classes[index]!.name;
}
