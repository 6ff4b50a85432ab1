import { isFreshAt } from '../../contract/answer.ts';
import { type CallKind, type PriceItem, priceItemOf } from '../../contract/credits.ts';
import type { Cell } from '../../geo/coordinates.ts';
import {
  read,
  readRows,
  readTogether,
  type SqlValue,
  type SqlWork,
  statement,
  together,
  toJson,
  write,
} from '../../sql/sql-work.ts';
import type { Wanted } from '../answers/port.ts';
import { groupAreas, isAreaAnswered } from '../answers/stored-areas.ts';
import { cellRecords, type StoredCells } from '../answers/stored-cells.ts';
import { intersection, type TopicSet, topicSet } from '../answers/topic-set.ts';
import type { Owner } from '../port.ts';
import { type LedgerTime, lockAccounts } from './account-locks.ts';
import {
  byOthers,
  COUNTED_MS,
  IN_FLIGHT_WAIT_MS,
  periodLeft,
  type RecentCalls,
  refusal,
} from './admission.ts';
import { sumUsage } from './claim-usage.ts';
import { addToSums } from './ledger-moves.ts';
import type { AreaWanted, Claim, ClaimLimits, ClaimRequest } from './port.ts';
import { pricesOf, type StoredPrice } from './seen-services.ts';
import { giveUpCalls } from './settle-calls.ts';

export interface ClaimTable extends LedgerTime, StoredCells {
  readonly owner: Owner;
  /** The calls of the last minute by account. Only new ones are read. */
  readonly windows: Map<string, RecentCalls>;
}

interface CallInFlight {
  readonly id: number;
  readonly run: number;
  readonly owner: string;
  readonly lease_until: number;
}

/** Decides on requests for one account and source in order, in one transaction: reads all rows that they depend on, under the locks of
 * account and source, decides in memory by the rules of admission.ts, and writes the granted calls. Two round trips for any number of
 * requests. Rejected: one round trip for each statement of each request. */
export function* claimCalls(
  table: ClaimTable,
  asked: readonly { readonly terms: ClaimLimits; readonly request: ClaimRequest }[],
): SqlWork<Claim[]> {
  const { database, owner, windows } = table;
  const { dialect } = database;
  const { account, source } = asked[0]!.terms;
  const requests = asked.map(({ request }) => request);
  const terms = asked.map((claim) => claim.terms);
  const readAround = () =>
    together(sumUsage(database, windows, account, terms), aroundCalls(table, source, requests));
  const [locked, , found, prices, numbers] = yield* readTogether(
    lockAccounts(table, [account]),
    // Two accounts may claim the same cell.
    readRows(statement(`SELECT id FROM sources WHERE id = $1 ${dialect.forUpdate}`, [source])),
    readAround(),
    readRows(pricesOf(database, source)),
    readRows(dialect.newNumbers('calls', 'id', '(SELECT max(id) FROM calls)', asked.length)),
  );
  const time = locked.timeOf(account);
  const isDead = (call: CallInFlight) =>
    call.lease_until <= time || (call.owner !== owner.name && !owner.isAlive(call.owner));
  const dead = found[1].open.filter(isDead).map(({ id }) => id);
  let [usage, calls] = found;
  if (dead.length > 0) {
    yield* giveUpCalls(table, dead);
    [[usage, calls]] = yield* readTogether(readAround());
    // The windows include calls that this transaction has settled as unknown. They would be wrong if it is not committed.
    windows.clear();
  }
  const first = yield* firstCalls(source, prices, requests, isDead);
  const granted: (Record<string, SqlValue> & { readonly id: number })[] = [];
  const areaClaims: Record<string, SqlValue>[] = [];

  const claims = asked.map(({ terms, request }, index): Claim => {
    const { cell, call, credits, areas = [] } = request;
    if (calls.isAnswered(index)) return { outcome: 'answered' };
    if (calls.isAtWork(terms.run, request)) return { outcome: 'claimed' };
    const price = first.priceOf(request) ?? credits;
    if (price !== credits) return { outcome: 'price', credits: price };
    const now = usage.of(terms, time - COUNTED_MS);
    const refused = refusal(now, terms, credits, time, request.key);
    if (refused) return refused;
    if (first.mustWait(request))
      return { outcome: 'wait', for: 'first_call', ms: IN_FLIGHT_WAIT_MS };
    const id = numbers[index]!.number;
    granted.push({
      id,
      run: terms.run,
      source,
      account,
      period: terms.period.start,
      key: request.key,
      kind: call.kind,
      topic: call.kind === 'single' ? call.topic : null,
      lat7: cell.lat7,
      lng7: cell.lng7,
      price: credits,
      owner: owner.name,
      now: locked.now,
      lease: time + terms.leaseMs,
      left: periodLeft(now.period, terms.periodLimit),
    });
    for (const area of areas)
      areaClaims.push({ call: id, source, area: area.area, topics: topicsOf(area) });
    usage.spend(terms, credits);
    calls.grant(terms.run, request);
    first.grant(request);
    return { outcome: 'granted', call: id, byOthers: byOthers(now, terms.run) };
  });

  yield* write(...locked.setBack);
  if (granted.length > 0) {
    const ids = granted.map(({ id }) => id);
    yield* write(
      ...dialect.eachRow(granted, 'new', GRANTED, INSERT_CALLS),
      ...addToSums(database, ids, 1),
    );
  }
  yield* write(...dialect.eachRow(areaClaims, 'new', AREA_CLAIMS, INSERT_AREA_CLAIMS));
  return claims;
}

/** Who of some requests must wait for a first call. A call whose item has no price that holds goes out alone among such calls of its kind,
 * of all processes: it shows whether the service charges what the contract says. */
function* firstCalls(
  source: number,
  prices: readonly StoredPrice[],
  requests: readonly ClaimRequest[],
  isDead: (call: CallInFlight) => boolean,
): SqlWork<FirstCalls> {
  const holding = new Map(
    prices.filter(({ holdsMs }) => holdsMs > 0).map(({ item, credits }) => [item, credits]),
  );
  const isFirst = ({ call, isPriceAssumed = false }: ClaimRequest) =>
    isPriceAssumed && !holding.has(priceItemOf(call));
  const inFlight = new Set<CallKind>();
  if (requests.some(isFirst)) {
    const sql = `SELECT id, run, owner, lease_until, kind, coalesce(topic, kind) AS item FROM calls
      WHERE source = $1 AND charge = 'sent'`;
    const [open] = yield* read(
      statement<CallInFlight & { readonly kind: CallKind; readonly item: PriceItem }>(sql, [
        source,
      ]),
    );
    for (const call of open) if (!isDead(call) && !holding.has(call.item)) inFlight.add(call.kind);
  }
  return {
    priceOf: ({ call }) => holding.get(priceItemOf(call)) ?? null,
    mustWait: (request) => isFirst(request) && inFlight.has(request.call.kind),
    grant(request) {
      if (!holding.has(priceItemOf(request.call))) inFlight.add(request.call.kind);
    },
  };
}

interface FirstCalls {
  /** The price that holds; null: none is known. */
  priceOf(request: ClaimRequest): number | null;
  mustWait(request: ClaimRequest): boolean;
  /** Counts a call that this transaction grants. */
  grant(request: ClaimRequest): void;
}

const GRANTED = {
  id: 'bigint',
  run: 'bigint',
  source: 'integer',
  account: 'text',
  period: 'bigint',
  key: 'text',
  kind: 'text',
  topic: 'text',
  lat7: 'integer',
  lng7: 'integer',
  price: 'integer',
  owner: 'text',
  now: 'bigint',
  lease: 'bigint',
  left: 'bigint',
} as const;
const INSERT_CALLS = (table: string) =>
  `INSERT INTO calls (id, run, source, account, period_start, key, kind, topic, lat7, lng7, price, charge, credits, owner,
     claimed_at, lease_until, credits_left)
   SELECT id, run, source, account, period, key, kind, topic, lat7, lng7, price, 'sent', price, owner, now, lease, "left" FROM ${table}`;
const INSERT_AREA_CLAIMS = (table: string) =>
  `INSERT INTO area_claims (call, source, area, topics) SELECT call, source, area, topics FROM ${table}`;
const AREA_CLAIMS = { call: 'bigint', source: 'integer', area: 'text', topics: 'bigint' } as const;

type OfRun = Pick<CallInFlight, 'run'>;
type OfArea = OfRun & { readonly area: string; readonly topics: TopicSet };

/** The stored answers and the calls in flight that requests depend on. Reads calls in flight before answers: a call that settles in
 * between then appears in at least one of them. */
function aroundCalls(table: ClaimTable, source: number, requests: readonly ClaimRequest[]) {
  const { dialect } = table.database;
  const asked = requests.map(({ cell }) => cell);
  const areas = [
    ...new Set(requests.flatMap((request) => (request.areas ?? []).map(({ area }) => area))),
  ];
  const cells = dialect.records('$2', 'asked', { lat7: 'integer', lng7: 'integer' });
  const sql = `SELECT id, run, owner, lease_until, lat7, lng7 FROM calls
    WHERE source = $1 AND charge = 'sent' AND (lat7, lng7) IN (SELECT lat7, lng7 FROM ${cells})`;
  const open = statement<CallInFlight & Cell>(sql, [
    source,
    toJson(asked.map(({ lat7, lng7 }) => ({ lat7, lng7 }))),
  ]);
  const openAreas = statement<CallInFlight & OfArea>(
    `SELECT calls.id, run, owner, lease_until, area, topics FROM area_claims JOIN calls ON calls.id = area_claims.call
     WHERE area_claims.source = $1 AND area IN ${dialect.list('$2', 'text')}`,
    [source, JSON.stringify(areas)],
  );
  const reading = together(
    readRows(open),
    areas.length === 0 ? { statements: [], take: () => [] } : readRows(openAreas),
    cellRecords(table, source, asked),
    groupAreas(table.database, source, areas),
  );
  return {
    statements: reading.statements,
    take(rows: Parameters<typeof reading.take>[0]) {
      const [atCells, atAreas, stored, storedAreas] = reading.take(rows);
      const byCell = new Map<string, OfRun[]>(Map.groupBy(atCells, cellKey));
      const byAreas: OfArea[] = [...atAreas];
      return {
        open: [...atCells, ...atAreas],
        /** Whether a topic that a request wants is answered, at its cell or for one of its areas. */
        isAnswered(index: number): boolean {
          const { wanted, areas = [] } = requests[index]!;
          const isFresh = (times: Wanted) =>
            isFreshAt(stored[index]?.answers.get(times.topic)?.asOf ?? -1, times);
          return (
            wanted.some(isFresh) ||
            areas.some((area) => isAreaAnswered(storedAreas.get(area.area), area.wanted))
          );
        },
        /** Whether another run is buying at the cell, or for one of its areas. */
        isAtWork(run: number, { cell, areas = [] }: ClaimRequest): boolean {
          const isOthers = (call: OfRun) => call.run !== run;
          const isOfArea = (area: AreaWanted) => (call: OfArea) =>
            call.area === area.area &&
            intersection(call.topics, topicsOf(area)) > 0 &&
            isOthers(call);
          return (
            (byCell.get(cellKey(cell)) ?? []).some(isOthers) ||
            areas.some((area) => byAreas.some(isOfArea(area)))
          );
        },
        /** Counts a call that this transaction grants, because the next request may be of another run. */
        grant(run: number, { cell, areas = [] }: ClaimRequest): void {
          const key = cellKey(cell);
          byCell.set(key, [...(byCell.get(key) ?? []), { run }]);
          for (const area of areas) byAreas.push({ run, area: area.area, topics: topicsOf(area) });
        },
      };
    },
  };
}

const cellKey = ({ lat7, lng7 }: Cell) => `${lat7} ${lng7}`;
const topicsOf = ({ wanted }: AreaWanted): TopicSet => topicSet(wanted.map(({ topic }) => topic));
