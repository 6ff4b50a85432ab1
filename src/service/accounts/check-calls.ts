import { timingSafeEqual } from 'node:crypto';
import { type EngineDialect, readRows, readTogether, type SqlWork, statement, together } from '../../sql/sql-work.ts';
import { chargeRefusals, isSetBack, selectUsage, totalOfRow, type UsageRow } from './account-usage.ts';
import type { CallCheck, Caller, PresentedCall } from './calls.ts';
import { type BatchTotal, findRefusal, type LastCall } from './limits.ts';
import { hashOfKey, type KeyTimes, stateOf } from './service-keys.ts';

/** A row of SELECT_KEY, at the time `now`. */
interface KeyRow extends KeyTimes {
  readonly now: number;
  readonly id: number;
  readonly hash: Buffer;
  readonly scopes: string;
}

/** The callers of a batch, and the limit that would refuse each call. Each key is read once, after its calls have arrived, so a
 * revocation takes effect at once. */
export function* checkCalls(
  dialect: EngineDialect,
  lastCall: LastCall,
  calls: readonly PresentedCall[],
): SqlWork<{ readonly now: number | null; readonly checks: CallCheck[] }> {
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
      together(readRows(statement<KeyRow>(selectKey, [hash])), readRows(statement<UsageRow>(selectAccount, [hash]))),
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

function findCaller(
  [[key], [usage]]: readonly [KeyRow[], UsageRow[]],
  hash: Buffer,
): { readonly caller: Caller; readonly total: BatchTotal } | 'invalid' {
  if (key === undefined || usage === undefined || !timingSafeEqual(key.hash, hash)) return 'invalid';
  const state = stateOf(key, key.now);
  if (state !== 'active' && state !== 'rotating') return 'invalid';
  const scopes = new Set(key.scopes.split(','));
  // If the clock was set back, the charging transaction decides.
  const total = totalOfRow(usage, isSetBack(usage) ? 0 : null);
  return { caller: { key: key.id, account: total.account, may: (scope) => scopes.has(scope) }, total };
}
