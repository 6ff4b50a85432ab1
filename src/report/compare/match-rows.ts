import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { valueOfUnits } from '../../run/scan/value.ts';
import { openTemporarySqlite } from '../../sql/open-sqlite.ts';
import type { RatedTopic } from '../figures/cell-classes.ts';
import { CLASS_LETTERS, HIGHEST, type Scale } from '../figures/scales.ts';
import type { CountedSum } from '../figures/sums.ts';
import {
  type Bridge,
  type ClassChange,
  isAtRisk,
  makeBridgeSums,
  makeClassChanges,
  type RowState,
} from './bridge.ts';
import { type LossBridge, type LossState, makeLossBridge } from './loss-bridge.ts';

/** The change of one topic. */
export interface TopicChanges {
  /** The name of the topic. */
  readonly topic: TopicSlug;
  /** Its title. */
  readonly title: string;
  /** The change of the value at risk: rated Relatively High or Very High, or in a severe class of a layer. */
  readonly bridge: Bridge;
  /** Rows that stayed at their place and are in another class, by the classes then and now; most rows first. */
  readonly classes: readonly ClassChange[];
  /** Rows with an answer in the earlier output; of a layer, one that leaves nothing open. */
  readonly answeredThen: CountedSum;
  /** Rows with an answer in this output. */
  readonly answeredNow: CountedSum;
}

/** The rows of both files, matched. */
interface MatchedRows {
  /** Rows of the earlier output. */
  readonly before: ComparedSum;
  /** Rows of this output. */
  readonly now: ComparedSum;
  /** Rows in this output alone. */
  readonly new: ComparedSum;
  /** Rows in the earlier output alone. */
  readonly gone: ComparedSum;
  /** Rows whose place differs; their ratings may have changed for that reason. */
  readonly relocated: ComparedSum;
  /** The change of the total value, for all ratings. */
  readonly bridge: Bridge;
  /** The change of each topic. */
  readonly topics: readonly TopicChanges[];
  /** The change of the expected annual loss; null where one of the outputs has none. */
  readonly losses: LossBridge | null;
}

/** The changes between an earlier output and the report. Values are in `currency`, no longer in whole units; other currencies are apart. */
export interface Comparison extends MatchedRows {
  /** The name of the earlier output. */
  readonly earlier: string;
  /** The currency of the values; null where it is not known. */
  readonly currency: string | null;
  /** The column that identifies rows, else `place`: by place, and by order among rows of one place. */
  readonly matchedBy: string;
  /** Topics without a column in the earlier output. */
  readonly notCompared: readonly TopicSlug[];
}

/** The rows of one side and their value. */
export interface ComparedSum {
  /** The number of rows. */
  readonly rows: number;
  /** Their value; null where it is not known, which is not zero. */
  readonly value: number | null;
  /** Rows whose value is empty or not a number, in any currency. */
  readonly withoutValue: number;
  /** Rows in other currencies, most rows first. */
  readonly otherCurrencies: readonly (CountedSum & {
    /** The currency; null where a row names none. */
    readonly currency: string | null;
  })[];
}

type Side = AsyncIterable<readonly ComparedRow[]>;

export interface ComparedRow {
  /** Identifies the row; rows with equal keys are matched in order. */
  readonly key: string;
  readonly line: number;
  readonly part: string | null;
  /** Equal for equal places; '' without a usable location. */
  readonly place: string;
  /** In units; null if it is empty or not a number. */
  readonly value: number | null;
  /** The row's currency if it differs from the comparison's, '' if the row has none; else null. */
  readonly otherCurrency: string | null;
  /** A class letter for each compared topic. */
  readonly classes: string;
  /** The sum of its loss rates; null where it is unknown. */
  readonly rate: number | null;
  /** The value that loss rates apply to, in units; null where it is unknown. */
  readonly lossValue: number | null;
}

const TABLES = `
  CREATE TABLE earlier_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, otherCurrency TEXT, classes TEXT, rate REAL, lossValue REAL);
  CREATE TABLE current_rows (key TEXT, line INTEGER, part TEXT, place TEXT, value REAL, otherCurrency TEXT, classes TEXT, rate REAL, lossValue REAL)`;

/** The order of a row among the rows with the same key and place. */
const atPlace = (table: string) => `
  CREATE TABLE ${table}_at_place AS
    SELECT *, rowid AS position, row_number() OVER (PARTITION BY key, place ORDER BY rowid) AS nth FROM ${table}_rows;
  DROP TABLE ${table}_rows;
  CREATE INDEX ${table}_by_place ON ${table}_at_place (key, place, nth)`;

/** `n` distinguishes rows with one key. */
const numbered = (table: string, other: string) => `
  CREATE TABLE ${table} AS
    SELECT *, iif(stays, place || ' ' || nth, row_number() OVER (PARTITION BY key, stays ORDER BY position)) AS n
    FROM (SELECT a.*, EXISTS (SELECT 1 FROM ${other}_at_place b WHERE b.key = a.key AND b.place = a.place AND b.nth = a.nth) AS stays
          FROM ${table}_at_place a);
  CREATE INDEX ${table}_by_key ON ${table} (key, n)`;

/** Several rows may have one key: a policy has several locations. Rows at an unchanged place are matched first, the others by
 * order: by order alone, a removed row would make all later rows look moved. */
const NUMBERED = [
  ...[atPlace('earlier'), atPlace('current')],
  ...[numbered('earlier', 'current'), numbered('current', 'earlier')],
  'DROP TABLE earlier_at_place; DROP TABLE current_at_place',
].join(';');

/** Matches the rows of both files, which are read once, in a temporary SQLite file: maps of millions of keys would not fit into memory. */
export async function matchRows(
  earlier: Side,
  current: Side,
  topics: readonly Pick<RatedTopic, 'slug' | 'scale'>[],
  decimals: number,
  hasLosses = false,
): Promise<MatchedRows> {
  using database = openTemporarySqlite();
  database.exec(TABLES);
  const fill = async (table: 'earlier_rows' | 'current_rows', rows: Side) => {
    const insert = database.prepare(
      `INSERT INTO ${table} VALUES (@key, @line, @part, @place, @value, @otherCurrency, @classes, @rate, @lossValue)`,
    );
    const insertAll = database.transaction((batch: readonly ComparedRow[]) => {
      for (const row of batch) insert.run(row);
    });
    for await (const batch of rows) insertAll(batch);
  };
  await fill('earlier_rows', earlier);
  await fill('current_rows', current);
  database.exec(NUMBERED);
  const sums = () => makeComparedSums(decimals);
  const sides = { before: sums(), now: sums(), new: sums(), gone: sums(), relocated: sums() };
  const all = makeBridgeSums(HIGHEST, () => true);
  const losses = hasLosses ? makeLossBridge() : null;
  const perTopic = topics.map(({ slug, scale }) => makeTopicSums(slug, scale, decimals));
  const pass = (then: ComparedRow | null, is: ComparedRow | null) => {
    const hasMoved = then !== null && is !== null && then.place !== is.place;
    const { key, line, part } = (is ?? then)!;
    const example = () => ({ key, line, ...(part !== null && { part }) });
    if (then !== null) sides.before.add(then);
    if (is !== null) sides.now.add(is);
    if (then === null) sides.new.add(is!);
    if (is === null) sides.gone.add(then!);
    if (hasMoved) sides.relocated.add(is!);
    all.add(stateOf(then), stateOf(is), hasMoved, example);
    losses?.add(lossOf(then), lossOf(is), hasMoved);
    for (const [topic, sum] of perTopic.entries())
      sum.add(stateOf(then, topic), stateOf(is, topic), hasMoved, example);
  };
  const pairs = database.prepare(
    `SELECT c.*, e.key IS NOT NULL AS matched, e.place AS placeThen, e.value AS valueThen, e.otherCurrency AS otherThen, e.classes AS classesThen,
            e.rate AS rateThen, e.lossValue AS lossValueThen
     FROM current c LEFT JOIN earlier e ON e.key = c.key AND e.n = c.n ORDER BY c.position`,
  );
  for (const row of pairs.iterate() as IterableIterator<RowPair>) {
    const {
      placeThen: place,
      valueThen: value,
      otherThen: otherCurrency,
      classesThen: classes,
      rateThen: rate,
      lossValueThen: lossValue,
    } = row;
    const then = { ...row, place, value, otherCurrency, classes, rate, lossValue };
    pass(row.matched === 1 ? then : null, row);
  }
  const onlyEarlier = database.prepare(
    'SELECT * FROM earlier a WHERE NOT EXISTS (SELECT 1 FROM current b WHERE b.key = a.key AND b.n = a.n) ORDER BY a.position',
  );
  for (const row of onlyEarlier.iterate() as IterableIterator<ComparedRow>) pass(row, null);
  return {
    before: sides.before.sum(),
    now: sides.now.sum(),
    new: sides.new.sum(),
    gone: sides.gone.sum(),
    relocated: sides.relocated.sum(),
    bridge: bridgeInCurrency(all.bridge(), decimals),
    topics: perTopic.map((topic) => topic.changes()),
    losses: losses?.bridge((units) => valueOfUnits(units, decimals)) ?? null,
  };
}

interface RowPair extends ComparedRow {
  readonly matched: 0 | 1;
  readonly placeThen: string;
  readonly valueThen: number | null;
  readonly otherThen: string | null;
  readonly classesThen: string;
  readonly rateThen: number | null;
  readonly lossValueThen: number | null;
}

/** The loss of a row; null for none in the comparison's currency. */
function lossOf(row: ComparedRow | null): LossState | null {
  if (row === null || row.otherCurrency !== null) return null;
  return { rate: row.rate, value: row.lossValue ?? 0 };
}

/** Values in other currencies and unknown values count as 0. */
function stateOf(row: ComparedRow | null, topic?: number): RowState | null {
  if (row === null) return null;
  return {
    value: row.otherCurrency === null ? (row.value ?? 0) : 0,
    rating: topic === undefined ? 0 : CLASS_LETTERS.indexOf(row.classes[topic]!),
  };
}

function inCurrency({ rows, value }: CountedSum, decimals: number): CountedSum {
  return { rows, value: valueOfUnits(value, decimals) };
}

function bridgeInCurrency({ before, steps, now }: Bridge, decimals: number): Bridge {
  const sum = (counted: CountedSum) => inCurrency(counted, decimals);
  return {
    before: sum(before),
    steps: steps.map((step) => ({ ...step, change: sum(step.change) })),
    now: sum(now),
  };
}

function makeComparedSums(decimals: number) {
  let rows = 0;
  let withoutValue = 0;
  /** By currency; null is the comparison's. */
  const totals = new Map<string | null, { rows: number; value: number }>();
  return {
    add({ value, otherCurrency }: ComparedRow): void {
      rows++;
      if (value === null) {
        withoutValue++;
        return;
      }
      const total = totals.get(otherCurrency) ?? { rows: 0, value: 0 };
      total.rows++;
      total.value += value;
      totals.set(otherCurrency, total);
    },

    sum(): ComparedSum {
      const others = [...totals]
        .filter(([code]) => code !== null)
        .sort(([, a], [, b]) => b.rows - a.rows);
      const own = totals.get(null);
      const otherCurrencies = others.map(([code, sum]) => ({
        currency: code || null,
        ...inCurrency(sum, decimals),
      }));
      // Unknown is not zero.
      const none = rows === 0 ? 0 : null;
      const value = own ? inCurrency(own, decimals).value : none;
      return { rows, value, withoutValue, otherCurrencies };
    },
  };
}

function makeTopicSums(slug: TopicSlug, scale: Scale, decimals: number) {
  const atRisk = makeBridgeSums(scale, isAtRisk(scale));
  const answered = makeBridgeSums(scale, (rating) => rating < scale.known);
  const classes = makeClassChanges(scale);
  return {
    add(...row: Parameters<typeof atRisk.add>): void {
      atRisk.add(...row);
      answered.add(...row);
      classes.add(...row);
    },

    changes(): TopicChanges {
      const { before: answeredThen, now: answeredNow } = bridgeInCurrency(
        answered.bridge(),
        decimals,
      );
      const bridge = bridgeInCurrency(atRisk.bridge(), decimals);
      const { title } = topicOf(slug);
      const changed = classes
        .changes()
        .map((change) => ({ ...change, ...inCurrency(change, decimals) }));
      return { topic: slug, title, bridge, classes: changed, answeredThen, answeredNow };
    },
  };
}
