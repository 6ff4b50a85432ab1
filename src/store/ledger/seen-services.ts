import type { SampleMark } from '../../contract/answer.ts';
import type { BundleKind, PriceItem } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import {
  read,
  type SqlDatabase,
  type SqlStatement,
  type SqlWork,
  statement,
  storable,
  write,
} from '../../sql/sql-work.ts';
import type { BundleContents } from '../answers/port.ts';
import { storedJson } from '../answers/stored-json.ts';
import type { SettledCall } from './ledger-moves.ts';
import {
  type ChargedPrice,
  type ChargedPrices,
  PRICE_HOLDS_MS,
  type RefusedScope,
  type ServicePrices,
} from './port.ts';

const DAY_MS = 24 * 60 * 60_000;

/** How long a refused scope counts. Keys sometimes get new scopes, and asking again is free (403). A refusal that a wrong clock
 * dated in the future counts no longer than that either. */
const REFUSAL_HOLDS_MS = DAY_MS;

/** How long a bundle counts as incomplete after it returned fewer topics than the contract says. Without a limit it would never be
 * bought again, and one odd answer would make every later plan dearer. Buying it again costs one bundle. */
const THIN_BUNDLE_HOLDS_MS = 7 * DAY_MS;

/** Number of topics in each bundle (docs/developer/service-api.md, 2.3 and 2.9). */
const PROMISED = { standard: 17, enterprise: 37 } as const;

/** Records new facts about services from settlements, in the caller's transaction. Nearly all settlements have none. */
export function* rememberObservations(
  { dialect }: SqlDatabase,
  settled: readonly SettledCall[],
  now: number,
): SqlWork<void> {
  // Once per source and not per call: every settlement would lock its row.
  const answered = settled.filter(({ settlement }) => settlement.answers.length > 0);
  for (const [source, calls] of Map.groupBy(answered, ({ call }) => call.source)) {
    const samples = calls.filter(({ settlement }) => settlement.sample);
    const until = Math.max(
      0,
      ...samples.flatMap(({ settlement }) => settlement.answers.map(({ asOf }) => asOf)),
    );
    const still = calls.at(-1)!.settlement.sample === true ? 1 : 0;
    if (samples.length > 0) {
      const later = dialect.greatest('old.until', 'excluded.until');
      const sql = `INSERT INTO sample_sources AS old (source, until, still) VALUES ($1, $2, $3)
        ON CONFLICT (source) DO UPDATE SET until = ${later}, still = excluded.still`;
      yield* write(statement(sql, [source, until, still]));
    } else
      yield* write(
        statement('UPDATE sample_sources SET still = 0 WHERE source = $1 AND still = 1', [source]),
      );
  }
  for (const { settlement, call } of settled) {
    if (settlement.contents) {
      const { kind, topics } = settlement.contents;
      const sql = `INSERT INTO bundles (source, kind, topics, seen_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (source, kind) DO UPDATE SET topics = excluded.topics, seen_at = excluded.seen_at`;
      yield* write(statement(sql, [call.source, kind, JSON.stringify(topics), now]));
    }
    if (settlement.price) {
      const { item, credits } = settlement.price;
      // A free answer shows no price: one that holds stays.
      const sql = `INSERT INTO prices AS old (source, item, credits, charged_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (source, item) DO UPDATE SET credits = excluded.credits, charged_at = excluded.charged_at
        WHERE excluded.credits IS NOT NULL OR abs($4 - old.charged_at) >= ${PRICE_HOLDS_MS}`;
      yield* write(statement(sql, [call.source, item, credits, now]));
    }
    if (settlement.refused) {
      const { scope, reason } = settlement.refused;
      const sql = `INSERT INTO refused_scopes (source, key, scope, refused_at, reason) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (source, key, scope) DO UPDATE SET refused_at = excluded.refused_at, reason = excluded.reason`;
      yield* write(statement(sql, [call.source, call.key, scope, now, storable(reason)]));
    }
  }
}

/** What is recorded of a source that has answered with made-up data; null where it never has. */
export function* readSampleMark(source: number): SqlWork<SampleMark | null> {
  const [[mark]] = yield* read(
    statement<{ until: number; still: 0 | 1 }>(
      'SELECT until, still FROM sample_sources WHERE source = $1',
      [source],
    ),
  );
  return mark ? { until: mark.until, still: mark.still === 1 } : null;
}

/** What each bundle was last seen to return. Null: it was not seen, or returned less than promised and too long ago to be relied on. */
export function* readBundleContents(
  { dialect }: SqlDatabase,
  source: number,
): SqlWork<BundleContents> {
  const sql = `SELECT kind, topics, ${dialect.now} - seen_at AS age FROM bundles WHERE source = $1`;
  const [bundles] = yield* read(
    statement<{ kind: BundleKind; topics: string; age: number }>(sql, [source]),
  );
  const contents: { -readonly [Kind in BundleKind]: BundleContents[Kind] } = {
    standard: null,
    enterprise: null,
  };
  for (const { kind, topics, age } of bundles) {
    const slugs = storedJson<TopicSlug[]>(topics, 'the contents of a bundle', Array.isArray)!;
    const isThin = slugs.length < PROMISED[kind];
    if (!isThin || Math.abs(age) < THIN_BUNDLE_HOLDS_MS) contents[kind] = slugs;
  }
  return contents;
}

export interface StoredPrice extends Omit<ChargedPrice, 'credits'> {
  readonly item: PriceItem;
  /** Null: calls for it were answered free of charge only. */
  readonly credits: number | null;
}

/** A charge that a wrong clock dated in the future holds no longer than any other. */
const priceColumns = ({ dialect }: SqlDatabase): string =>
  `item, credits, charged_at AS at, ${PRICE_HOLDS_MS} - abs(${dialect.now} - charged_at) AS "holdsMs"`;

/** What a service last charged for each item, also for those that were answered free of charge only. */
export function pricesOf(database: SqlDatabase, source: number): SqlStatement<StoredPrice> {
  return statement(`SELECT ${priceColumns(database)} FROM prices WHERE source = $1`, [source]);
}

/** The prices that a service charged; those of items that were free alone are left out. */
export function* readChargedPrices(database: SqlDatabase, source: number): SqlWork<ChargedPrices> {
  const [stored] = yield* read(pricesOf(database, source));
  return chargedPrices(stored);
}

/** The prices of each service that charged something. */
export function* readAllChargedPrices(database: SqlDatabase): SqlWork<ServicePrices[]> {
  const sql = `SELECT sources.name AS source, ${priceColumns(database)}
    FROM prices JOIN sources ON sources.id = prices.source WHERE credits IS NOT NULL ORDER BY sources.name, item`;
  const [stored] = yield* read(statement<StoredPrice & { source: string }>(sql));
  return [...Map.groupBy(stored, ({ source }) => source)].map(([source, rows]) => {
    return { source, charged: chargedPrices(rows) };
  });
}

function chargedPrices(stored: readonly StoredPrice[]): ChargedPrices {
  return new Map(
    stored.flatMap(({ item, credits, at, holdsMs }) =>
      credits === null ? [] : [[item, { credits, at, holdsMs }] as const],
    ),
  );
}

/** @returns how many prices were forgotten */
export function* forgetPrices(): SqlWork<number> {
  const [[row]] = yield* read(
    statement<{ prices: number }>('SELECT count(credits) AS prices FROM prices'),
  );
  yield* write(statement('DELETE FROM prices'));
  return row!.prices;
}

/** The scopes that a service has refused to a key, until the refusal is too old to hold. */
export function* readRefusedScopes(
  { dialect }: SqlDatabase,
  source: number,
  key: string,
): SqlWork<readonly RefusedScope[]> {
  const sql = `SELECT scope, reason, refused_at AS at FROM refused_scopes
    WHERE source = $1 AND key = $2 AND abs(refused_at - ${dialect.now}) < $3 ORDER BY refused_at, scope`;
  const [rows] = yield* read(statement<RefusedScope>(sql, [source, key, REFUSAL_HOLDS_MS]));
  return rows;
}
