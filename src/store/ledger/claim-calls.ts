import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import { intersection, type TopicSet, topicSet } from '../../contract/topic-set.ts';
import {
  readTogether,
  rowsOf,
  type SqlDatabase,
  type SqlReading,
  type SqlValue,
  type SqlWork,
  statement,
  together,
  toJson,
  write,
} from '../../sql/sql-work.ts';
import { isAreaAnswered } from '../answers/area-merge.ts';
import { areasOf } from '../answers/stored-areas.ts';
import { cellRecords, type StoredCells } from '../answers/stored-cells.ts';
import type { Owner } from '../port.ts';
import { type LedgerTime, lockAccounts } from './account-locks.ts';
import { byOthers, MINUTE_MARGIN_MS, periodLeft, refusal, type Usage } from './admission.ts';
import { usageOf } from './claim-usage.ts';
import { addToSums } from './ledger-moves.ts';
import type { AreaWanted, Claim, ClaimLimits, ClaimRequest } from './port.ts';
import type { RecentCalls } from './recent-calls.ts';
import { giveUpCalls } from './settle-calls.ts';

/** The context of claims, apart from the rows. */
export interface ClaimTable extends LedgerTime, StoredCells {
  readonly owner: Owner;
  /** The calls of the last minute by account. Only new ones are read. */
  readonly windows: Map<string, RecentCalls>;
}

/** One request and its limits. */
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

/**
 * Decides on requests in order, in one transaction: reads all rows that they depend on, under the locks of their accounts and sources,
 * decides in memory by the rules of admission.ts, and writes the granted calls. Two round trips for any number of requests. Rejected:
 * one round trip for each statement of each request.
 */
export function* claimCalls(table: ClaimTable, asked: readonly AskedClaim[]): SqlWork<Claim[]> {
  const { database, owner, windows } = table;
  const { dialect } = database;
  const [locked, , first, numbers] = yield* readTogether(
    lockAccounts(
      table,
      asked.map(({ terms }) => terms.account),
    ),
    lockedSources(database, asked),
    aroundCalls(table, asked),
    rowsOf(dialect.newNumbers('calls', 'id', '(SELECT max(id) FROM calls)', asked.length)),
  );
  let around = first;
  const isDead = (call: CallInFlight, account: string) =>
    call.lease_until <= locked.timeOf(account) || (call.owner !== owner.name && !owner.isAlive(call.owner));
  const dead = around.openCalls.filter((call) => isDead(call, asked[0]!.terms.account)).map(({ id }) => id);
  if (dead.length > 0) {
    yield* giveUpCalls(table, dead);
    [around] = yield* readTogether(aroundCalls(table, asked));
  }
  const { usage, cells, ofSource } = around;
  const granted: (Record<string, SqlValue> & { readonly id: number })[] = [];
  const areaClaims: Record<string, SqlValue>[] = [];

  const claims = asked.map(({ terms, request }, number): Claim => {
    const { cell, call, credits, wanted, areas = [] } = request;
    const stored = cells[number];
    if (stored && wanted.some(({ topic, freshSince }) => (stored.answers.get(topic)?.asOf ?? -1) >= freshSince)) {
      return { outcome: 'answered' };
    }
    const source = ofSource.get(terms.source)!;
    if (areas.some(({ area, wanted: inArea }) => isAreaAnswered(source.areas.get(area), inArea))) {
      return { outcome: 'answered' };
    }
    if (source.isAtWork(terms.run, request)) return { outcome: 'claimed' };
    const time = locked.timeOf(terms.account);
    const now: Usage = usage.of(terms, time - RATE_WINDOW_MS - MINUTE_MARGIN_MS);
    const refused = refusal(now, { ...terms, windowMs: RATE_WINDOW_MS }, credits, time);
    if (refused) return refused;
    const id = numbers[number]!.number;
    granted.push({
      id,
      run: terms.run,
      source: terms.source,
      account: terms.account,
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
      areaClaims.push({ call: id, source: terms.source, area: area.area, topics: topicsOf(area) });
    usage.spend(terms, credits);
    source.grant({ id, run: terms.run, owner: owner.name, lease_until: time + terms.leaseMs }, request);
    return { outcome: 'granted', call: id, byOthers: byOthers(now, terms.run) };
  });

  yield* write(...locked.setBack);
  if (granted.length > 0) {
    const calls = granted.map(({ id }) => id);
    yield* write(...dialect.eachRow(granted, 'new', GRANTED, INSERT_CALLS), ...addToSums(database, calls, 1));
  }
  yield* write(...dialect.eachRow(areaClaims, 'new', AREA_CLAIMS, INSERT_AREA_CLAIMS));
  // The windows include calls that this transaction has settled as unknown. They would be wrong if it is not committed.
  if (dead.length > 0) windows.clear();
  return claims;
}

const GRANTED = {
  ...({ id: 'bigint', run: 'bigint', source: 'integer', account: 'text', period: 'bigint', key: 'text' } as const),
  ...({ kind: 'text', topic: 'text', lat7: 'integer', lng7: 'integer', price: 'integer', owner: 'text' } as const),
  ...({ now: 'bigint', lease: 'bigint', left: 'bigint' } as const),
};
const INSERT_CALLS = (table: string) =>
  `INSERT INTO calls (id, run, source, account, period_start, key, kind, topic, lat7, lng7, price, charge, credits, owner,
     claimed_at, lease_until, credits_left)
   SELECT id, run, source, account, period, key, kind, topic, lat7, lng7, price, 'sent', price, owner, now, lease, "left" FROM ${table}`;
const INSERT_AREA_CLAIMS = (table: string) =>
  `INSERT INTO area_claims (call, source, area, topics) SELECT call, source, area, topics FROM ${table}`;
const AREA_CLAIMS = { call: 'bigint', source: 'integer', area: 'text', topics: 'bigint' } as const;

/** Two accounts may claim the same cell. */
function lockedSources({ dialect }: SqlDatabase, asked: readonly AskedClaim[]): SqlReading<unknown> {
  if (dialect.forUpdate === '') return { statements: [], take: () => [] };
  const sources = JSON.stringify([...new Set(asked.map(({ terms }) => terms.source))]);
  const list = dialect.list('$1', 'bigint');
  return rowsOf(statement(`SELECT id FROM sources WHERE id IN ${list} ORDER BY id ${dialect.forUpdate}`, [sources]));
}

type OpenAtCell = CallInFlight & { readonly lat7: number; readonly lng7: number };
type OpenAtArea = CallInFlight & { readonly area: string; readonly topics: TopicSet };

/** Reads all rows that the requests depend on. */
function aroundCalls(table: ClaimTable, asked: readonly AskedClaim[]) {
  const bySource = [...Map.groupBy(asked.keys(), (number) => asked[number]!.terms.source)];
  const reading = together(
    usageOf(
      table.database,
      table.windows,
      asked.map(({ terms }) => terms),
    ),
    ...bySource.map(([source, numbers]) =>
      aroundSource(
        table,
        source,
        numbers.map((number) => asked[number]!.request),
      ),
    ),
  );
  return {
    ...reading,
    take(rows: Parameters<typeof reading.take>[0]) {
      const [usage, ...sources] = reading.take(rows);
      const ofSource = new Map(bySource.map(([source], at) => [source, sources[at]!]));
      const cells = new Array<(typeof sources)[number]['cells'][number]>(asked.length);
      for (const [at, [, numbers]] of bySource.entries()) {
        for (const [index, number] of numbers.entries()) cells[number] = sources[at]!.cells[index]!;
      }
      return { usage, cells, ofSource, openCalls: sources.flatMap(({ openCalls }) => openCalls) };
    },
  };
}

/** The rows that requests for cells of one source depend on. Reads calls in flight before answers: a call that settles in between
 * then appears in at least one of them. */
function aroundSource(table: ClaimTable, source: number, requests: readonly ClaimRequest[]) {
  const { dialect } = table.database;
  const asked = requests.map(({ cell }) => cell);
  const areas = [...new Set(requests.flatMap((request) => (request.areas ?? []).map(({ area }) => area)))];
  const cells = dialect.records('$2', 'asked', { lat7: 'integer', lng7: 'integer' });
  const open = statement<OpenAtCell>(
    `SELECT id, run, owner, lease_until, lat7, lng7 FROM calls
     WHERE source = $1 AND charge = 'sent' AND (lat7, lng7) IN (SELECT lat7, lng7 FROM ${cells})`,
    [source, toJson(asked.map(({ lat7, lng7 }) => ({ lat7, lng7 })))],
  );
  const openAreas = statement<OpenAtArea>(
    `SELECT calls.id, run, owner, lease_until, area, topics FROM area_claims JOIN calls ON calls.id = area_claims.call
     WHERE area_claims.source = $1 AND area IN ${dialect.list('$2', 'text')}`,
    [source, JSON.stringify(areas)],
  );
  const reading = together(
    rowsOf(open),
    areas.length === 0 ? { statements: [], take: () => [] } : rowsOf(openAreas),
    cellRecords(table, source, asked),
    areasOf(table.database, source, areas),
  );
  return {
    ...reading,
    take(rows: Parameters<typeof reading.take>[0]) {
      const [atCells, atAreas, stored, storedAreas] = reading.take(rows);
      const byCell = Map.groupBy(atCells, ({ lat7, lng7 }) => `${lat7} ${lng7}`);
      return {
        cells: stored,
        areas: storedAreas,
        openCalls: [...atCells, ...atAreas],
        /** Counts a call that this transaction grants, because the next request may be of another run. */
        grant(call: CallInFlight, { cell, areas: wanted = [] }: ClaimRequest): void {
          const key = `${cell.lat7} ${cell.lng7}`;
          byCell.set(key, [...(byCell.get(key) ?? []), { ...call, lat7: cell.lat7, lng7: cell.lng7 }]);
          for (const inArea of wanted) atAreas.push({ ...call, area: inArea.area, topics: topicsOf(inArea) });
        },
        /** Whether another run is buying at the cell, or for one of its areas. */
        isAtWork(run: number, { cell, areas: wanted = [] }: ClaimRequest): boolean {
          const isOthers = (call: CallInFlight) => call.run !== run;
          if ((byCell.get(`${cell.lat7} ${cell.lng7}`) ?? []).some(isOthers)) return true;
          return wanted.some((inArea) =>
            atAreas.some(
              (call) => call.area === inArea.area && intersection(call.topics, topicsOf(inArea)) > 0 && isOthers(call),
            ),
          );
        },
      };
    },
  };
}

const topicsOf = ({ wanted }: AreaWanted): TopicSet => topicSet(wanted.map(({ topic }) => topic));
