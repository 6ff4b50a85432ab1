import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import { intersection, type TopicSet, topicSet } from '../../contract/topic-set.ts';
import type { Session, Transaction } from '../../sql/postgres-pool.ts';
import { byOthers, MINUTE_MARGIN_MS, periodLeft, refusal, type Usage } from '../admission.ts';
import { isAreaAnswered, storedArea } from '../area-merge.ts';
import type { AreaWanted, Claim, ClaimLimits, ClaimRequest, StoredArea } from '../port.ts';
import { lockAccounts } from './account-locks.ts';
import { moveStatement, SumChanges, storedCalls } from './ledger-moves.ts';
import type { StoreParts } from './store-parts.ts';
import { integers, readCells } from './stored-cells.ts';
import { readUsage } from './usage-state.ts';

/** One request, and the limits that it is decided under. */
export interface AskedClaim {
  readonly terms: ClaimLimits;
  readonly request: ClaimRequest;
}

/** A call in flight. */
interface CallInFlight {
  readonly id: number;
  readonly run: number;
  readonly owner: string;
  readonly lease_until: number;
}

type OpenAtCell = CallInFlight & { readonly source: number; readonly lat7: number; readonly lng7: number };
type OpenAtArea = CallInFlight & { readonly source: number; readonly area: string; readonly topics: TopicSet };

/**
 * Decides on requests in order, in one transaction: read all that they depend on under the locks of their accounts and sources,
 * decide in memory by the rules of admission.ts, write what was granted. Two round trips for any number of requests, against one
 * for each statement of each request.
 */
export async function claimCalls(tx: Transaction, parts: StoreParts, asked: readonly AskedClaim[]): Promise<Claim[]> {
  const locking = lockAccounts(
    tx,
    asked.map(({ terms }) => terms.account),
    parts.serverTime,
  );
  // Two accounts may want the same cell, and runs under one plan may spend several accounts.
  const sources = tx.rows('SELECT id FROM sources WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE', [
    integers([...new Set(asked.map(({ terms }) => terms.source))]),
  ]);
  const reading = readAround(tx, parts, asked);
  const numbering = tx.rows<{ id: number }>(
    "SELECT nextval(pg_get_serial_sequence('calls', 'id')) AS id FROM generate_series(1, $1)",
    [asked.length],
  );
  const [locked, , first, numbers] = await Promise.all([locking, sources, reading, numbering]);
  let around = first;
  const isDead = (call: CallInFlight, account: string) =>
    call.lease_until <= locked.timeOf(account) || (call.owner !== parts.owner.name && !parts.owner.isAlive(call.owner));
  const dead = around.openCalls.filter((call) => isDead(call, asked[0]!.terms.account)).map(({ id }) => id);
  if (dead.length > 0) {
    await giveUpCalls(tx, parts, dead);
    around = await readAround(tx, parts, asked);
  }
  const { usage, cells, areaOf, isAtWork } = around;
  const granted: Record<string, unknown>[] = [];
  const areaClaims: Record<string, unknown>[] = [];
  const sums = new SumChanges();

  const claims = asked.map(({ terms, request }, place): Claim => {
    const { cell, call, credits, wanted, areas = [] } = request;
    const known = cells[place];
    if (known && wanted.some(({ topic, freshSince }) => (known.answers.get(topic)?.asOf ?? -1) >= freshSince)) {
      return { outcome: 'answered' };
    }
    if (areas.some(({ area, wanted: inArea }) => isAreaAnswered(areaOf(terms.source, area, locked.now), inArea))) {
      return { outcome: 'answered' };
    }
    if (isAtWork(terms, request)) return { outcome: 'claimed' };
    const time = locked.timeOf(terms.account);
    const now: Usage = usage.of(terms, time - RATE_WINDOW_MS - MINUTE_MARGIN_MS);
    const refused = refusal(now, { ...terms, windowMs: RATE_WINDOW_MS }, credits, time);
    if (refused) return refused;
    const id = numbers[place]!.id;
    granted.push({
      id,
      run: terms.run,
      source: terms.source,
      account: terms.account,
      period: terms.period.start,
      key: request.key,
      kind: call.kind,
      topic: call.kind === 'single' ? call.topic : null,
      ...cell,
      price: credits,
      owner: parts.owner.name,
      now: locked.now,
      lease: time + terms.leaseMs,
      left: periodLeft(now.period, terms),
    });
    for (const area of areas)
      areaClaims.push({ call: id, source: terms.source, area: area.area, topics: topicsOf(area) });
    sums.add(terms.account, terms.period.start, terms.run, 'sent', credits);
    usage.spend(terms, credits);
    return { outcome: 'granted', call: id, byOthers: byOthers(now, terms.run) };
  });

  const setBack = locked.setBackStatement();
  if (setBack !== null) tx.last(...setBack);
  if (granted.length > 0) {
    tx.last(
      `INSERT INTO calls (id, run, source, account, period_start, key, kind, topic, lat7, lng7, price, charge, credits, owner,
         claimed_at, lease_until, credits_left)
       SELECT id, run, source, account, period, key, kind, topic, lat7, lng7, price, 'sent', price, owner, now, lease, "left"
       FROM json_to_recordset($1) AS new (id bigint, run bigint, source integer, account text, period bigint, key text, kind text,
         topic text, lat7 integer, lng7 integer, price integer, owner text, now bigint, lease bigint, "left" bigint)`,
      [JSON.stringify(granted)],
    );
    for (const statement of sums.statements()) tx.last(...statement);
  }
  if (areaClaims.length > 0) {
    tx.last(
      `INSERT INTO area_claims (call, source, area, topics)
       SELECT * FROM json_to_recordset($1) AS new (call bigint, source integer, area text, topics bigint)`,
      [JSON.stringify(areaClaims)],
    );
  }
  // They count calls that are unknown in this transaction alone, until it is committed.
  if (dead.length > 0) parts.windows.clear();
  return claims;
}

/** Settles calls of processes that have died: they may have been sent and charged, so their charge is unknown. */
export async function giveUpCalls(tx: Session, parts: StoreParts, calls: readonly number[]): Promise<void> {
  const accounts = (await storedCalls(tx, calls)).map(({ account }) => account);
  const [, stored] = await Promise.all([lockAccounts(tx, accounts, parts.serverTime), storedCalls(tx, calls)]);
  const moves = stored
    .filter(({ charge }) => charge === 'sent')
    .map(({ id }) => ({ call: id, charge: 'unknown', credits: null, period: null, outcome: 'process ended' }) as const);
  await tx.rows(...moveStatement(moves, parts.serverTime));
}

/** Reads all that the requests depend on, in one round trip. Calls in flight before the answers: one that is settled in between is
 * seen in one of both. */
async function readAround(tx: Session, parts: StoreParts, asked: readonly AskedClaim[]) {
  const bySource = [...Map.groupBy(asked.keys(), (place) => asked[place]!.terms.source)];
  const areasOf = (places: readonly number[]) => [
    ...new Set(places.flatMap((place) => (asked[place]!.request.areas ?? []).map(({ area }) => area))),
  ];
  const reads = bySource.map(async ([source, places]) => {
    const cells = places.map((place) => asked[place]!.request.cell);
    const areas = areasOf(places);
    const [open, openAreas, known, knownAreas] = await Promise.all([
      tx.rows<OpenAtCell>(
        `SELECT id, run, owner, lease_until, source, calls.lat7, calls.lng7 FROM calls
         WHERE source = $1 AND charge = 'sent' AND (lat7, lng7) IN (SELECT * FROM unnest($2::integer[], $3::integer[]))`,
        [source, integers(cells.map(({ lat7 }) => lat7)), integers(cells.map(({ lng7 }) => lng7))],
      ),
      areas.length === 0
        ? []
        : tx.rows<OpenAtArea>(
            `SELECT calls.id, run, owner, lease_until, area_claims.source, area, topics
             FROM area_claims JOIN calls ON calls.id = area_claims.call WHERE area_claims.source = $1 AND area = ANY($2)`,
            [source, areas],
          ),
      readCells(tx, parts.texts, parts.codec, source, cells),
      areas.length === 0
        ? []
        : tx.rows<{ area: string; answers: string; mismatchedAt: number | null }>(
            'SELECT area, answers, mismatched_at AS "mismatchedAt" FROM areas WHERE source = $1 AND area = ANY($2)',
            [source, areas],
          ),
    ]);
    return { source, places, open, openAreas, known, knownAreas };
  });
  const [found, usage] = await Promise.all([
    Promise.all(reads),
    readUsage(
      tx,
      parts.windows,
      asked.map(({ terms }) => terms),
    ),
  ]);
  const open = found.flatMap((part) => part.open);
  const openAreas = found.flatMap((part) => part.openAreas);
  const atCell = Map.groupBy(open, ({ source, lat7, lng7 }) => `${source} ${lat7} ${lng7}`);
  const areaRows = new Map(
    found.flatMap(({ source, knownAreas }) => knownAreas.map((row) => [`${source} ${row.area}`, row] as const)),
  );
  const cells = new Array(asked.length);
  for (const { places, known } of found) for (const [at, place] of places.entries()) cells[place] = known[at];
  return {
    usage,
    cells: cells as Awaited<ReturnType<typeof readCells>>,
    openCalls: [...open, ...openAreas],
    areaOf(source: number, area: string, now: number): StoredArea | null {
      const row = areaRows.get(`${source} ${area}`);
      return row ? storedArea(row, now) : null;
    },
    /** Whether another running run buys at the cell, or for one of its areas. */
    isAtWork({ source, run }: ClaimLimits, { cell, areas = [] }: ClaimRequest): boolean {
      const isOthers = (call: CallInFlight) => call.run !== run;
      if ((atCell.get(`${source} ${cell.lat7} ${cell.lng7}`) ?? []).some(isOthers)) return true;
      return areas.some((wanted) =>
        openAreas.some(
          (call) =>
            call.source === source &&
            call.area === wanted.area &&
            intersection(call.topics, topicsOf(wanted)) > 0 &&
            isOthers(call),
        ),
      );
    },
  };
}

const topicsOf = ({ wanted }: AreaWanted): TopicSet => topicSet(wanted.map(({ topic }) => topic));
