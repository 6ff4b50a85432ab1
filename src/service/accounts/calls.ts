import { timingSafeEqual } from 'node:crypto';
import { PerilbookError } from '../../base/errors.ts';
import type { Call, Scope } from '../../contract/credits.ts';
import {
  type EngineDialect,
  readRows,
  readTogether,
  type SqlStatement,
  type SqlValue,
  type SqlWork,
  statement,
  together,
  write,
} from '../../sql/sql-work.ts';
import {
  type AddedCharge,
  addCharge,
  type BatchTotal,
  type ChargeRefusal,
  chargeRefusals,
  findRefusal,
  type LastCall,
  lockedTotal,
  lockedUsage,
  selectUsage,
  totalOfRow,
  type UsageRow,
} from './limits.ts';
import type { Presence } from './presence.ts';
import type { ServiceAccount } from './service-account.ts';
import { hashOfKey, type KeyTimes, stateOf } from './service-keys.ts';

/** Whether the accounts' database is unreachable or unusable. A running service reports this once, not for each call. */
export function isAccountsFailure(error: unknown): boolean {
  return (
    error instanceof PerilbookError &&
    (error.code === 'ACCOUNTS_UNAVAILABLE' || error.code === 'SERVICE_ACCOUNT')
  );
}

/** A received call: its key, and the requested call; null if that is unknown. */
export interface PresentedCall {
  readonly key: string | undefined;
  readonly call: Call | null;
}

/** A key that works, and its account. */
export interface Caller {
  readonly key: number;
  readonly account: ServiceAccount;
  readonly may: (scope: Scope) => boolean;
}

/** The check of a call before it is answered. `invalid`: its key is missing, malformed, unknown, revoked, expired or retired. */
export type CallCheck =
  | 'invalid'
  | { readonly caller: Caller; readonly refusal: ChargeRefusal | null };

export interface Chargeable {
  readonly caller: Caller;
  readonly call: Call;
  readonly requestId: string;
}

export interface Charge extends AddedCharge {
  readonly id: number;
}

/** Ids of charges whose responses have ended. */
export interface DeliveryOutcomes {
  readonly delivered: readonly number[];
  readonly undelivered: readonly number[];
}

/** A row of SELECT_KEY, at the time `now`. */
interface KeyRow extends KeyTimes {
  readonly now: number;
  readonly id: number;
  readonly hash: Buffer;
  readonly scopes: string;
}

interface CheckedCalls {
  /** Null where no call has a key. */
  readonly now: number | null;
  readonly checks: CallCheck[];
}

interface ChargedCalls {
  readonly now: number;
  readonly results: (ChargeRefusal | Charge)[];
}

/** The callers of a batch, and the limit that would refuse each call. Keys are read after their calls: a revocation takes effect at once. */
export function* checkCalls(
  dialect: EngineDialect,
  lastCall: LastCall,
  calls: readonly PresentedCall[],
): SqlWork<CheckedCalls> {
  // By text, among the few keys of one batch: V8 compares texts only when their seeded hashes are equal, so the time it takes
  // reveals nothing about the keys. Computing the SHA-256 for each call would take as long as finding its tract.
  const hashes = new Map(calls.map(({ key = '' }) => [key, null as Buffer | null]));
  for (const key of hashes.keys()) hashes.set(key, hashOfKey(key));
  const asked = [...hashes].flatMap(([key, hash]) => (hash === null ? [] : [{ key, hash }]));
  const selectKey = `SELECT ${dialect.now} AS now, id, hash, scopes, expires_at AS "expiresAt", retires_at AS "retiresAt",
    revoked_at AS "revokedAt" FROM keys WHERE hash = $1`;
  const selectAccount = selectUsage(dialect, '(SELECT account FROM keys WHERE hash = $1)');
  const rows = yield* readTogether(
    ...asked.map(({ hash }) =>
      together(
        readRows(statement<KeyRow>(selectKey, [hash])),
        readRows(statement<UsageRow>(selectAccount, [hash])),
      ),
    ),
  );
  const callers = new Map(asked.map(({ key, hash }, at) => [key, findCaller(rows[at]!, hash)]));
  const checked = calls.map(({ key = '', call }) => {
    const caller = callers.get(key) ?? 'invalid';
    if (typeof caller === 'string') return caller;
    return { ...caller, refusal: call === null ? null : findRefusal(caller.total, call, lastCall) };
  });
  const limited = checked.filter((result) => typeof result === 'object');
  const refusals = (yield* chargeRefusals(limited)).values();
  const checks = checked.map((result): CallCheck => {
    if (typeof result === 'string') return result;
    return { caller: result.caller, refusal: refusals.next().value ?? null };
  });
  return { now: rows[0]?.[0][0]?.now ?? null, checks };
}

function findCaller([[key], [usage]]: readonly [KeyRow[], UsageRow[]], hash: Buffer) {
  if (key === undefined || usage === undefined || !timingSafeEqual(key.hash, hash))
    return 'invalid' as const;
  const state = stateOf(key, key.now);
  if (state !== 'active' && state !== 'rotating') return 'invalid' as const;
  const scopes = new Set(key.scopes.split(','));
  const total = totalOfRow(usage);
  const caller: Caller = { key: key.id, account: total.account, may: (scope) => scopes.has(scope) };
  return { caller, total };
}

export interface ChargeOrder {
  readonly calls: readonly Chargeable[];
  readonly instance: number;
}

/** The id of SQLite's newest charge, reversed ones included: ids are not reused. */
const NEWEST_ID = "(SELECT seq FROM sqlite_sequence WHERE name = 'charges')";

/** Checks and charges calls in order, by the present terms of their accounts. The first round trip locks and reads, the last one writes. */
export function* chargeCalls(
  dialect: EngineDialect,
  presence: Presence,
  lastCall: LastCall,
  order: ChargeOrder,
): SqlWork<ChargedCalls> {
  const { calls, instance } = order;
  const [usage, isDue, numbers] = yield* readTogether(
    lockedUsage(dialect, listAccounts(calls)),
    presence.isDue(instance),
    readRows(dialect.newNumbers('charges', 'id', NEWEST_ID, calls.length)),
  );
  const totals = new Map<number, BatchTotal>();
  for (const row of usage) totals.set(row.id, yield* lockedTotal(row));
  const rows: SqlValue[][] = [];
  const decisions = calls.map(({ caller, call, requestId }) => {
    const total = totals.get(caller.account.id)!;
    const refusal = findRefusal(total, call, lastCall);
    if (refusal !== null) return { total, refusal, charge: null };
    const charge: Charge = { id: numbers[rows.length]!.number, ...addCharge(total, call) };
    const topic = call.kind === 'single' ? call.topic : null;
    const { now, periodStart } = total.before;
    const key = [charge.id, caller.account.id, caller.key];
    rows.push([...key, call.kind, topic, charge.credits, now, periodStart, requestId, instance]);
    return { total, refusal, charge };
  });
  const refusals = yield* chargeRefusals(decisions);
  yield* write(
    ...(rows.length === 0 ? [] : [insertion(rows)]),
    ...[...totals.values()].flatMap(additions),
    ...(isDue ? presence.renewal(instance) : []),
  );
  const results = decisions.map(({ charge }, index) => charge ?? refusals[index]!);
  return { now: usage[0]!.now, results };
}

/** The accounts of calls, by ascending ids. */
export function listAccounts(calls: readonly Chargeable[]): number[] {
  return [...new Set(calls.map(({ caller }) => caller.account.id))].sort((a, b) => a - b);
}

/** Writes charges as pending, at most 64 in a batch. As many VALUES as rows: SQLite takes three times as long to read them from JSON. */
function insertion(rows: readonly (readonly SqlValue[])[]): SqlStatement {
  const tuples = rows.map(
    (row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`).join(', ')})`,
  );
  const sql = `INSERT INTO charges (id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
    VALUES ${tuples.join(', ')}`;
  return statement(sql, rows.flat());
}

function additions({ account, before, credits, calls }: BatchTotal): SqlStatement[] {
  if (credits === 0) return [];
  const { creditsPerMonth, overageRate } = account.subscription;
  const { single, standard, enterprise } = calls;
  return [
    statement(
      `INSERT INTO minutes (account, minute_from, minute_credits) VALUES ($1, $2, $3)
       ON CONFLICT (account) DO UPDATE SET minute_from = excluded.minute_from, minute_credits = excluded.minute_credits`,
      [account.id, before.minuteFrom, before.minuteCredits + credits],
    ),
    statement(
      `INSERT INTO periods AS old (account, period_start, credits, single, standard, enterprise, allowance, overage_rate)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (account, period_start) DO UPDATE SET credits = old.credits + excluded.credits,
         single = old.single + excluded.single, standard = old.standard + excluded.standard,
         enterprise = old.enterprise + excluded.enterprise, allowance = excluded.allowance, overage_rate = excluded.overage_rate`,
      [
        account.id,
        before.periodStart,
        credits,
        single,
        standard,
        enterprise,
        creditsPerMonth,
        overageRate,
      ],
    ),
  ];
}
