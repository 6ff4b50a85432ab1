import { timingSafeEqual } from 'node:crypto';
import type { Session } from '../../../sql/postgres-pool.ts';
import { hashOfKey, stateOf } from '../key-life.ts';
import { type BatchTotal, type LimitRules, newTotal, refusalOf, retryAfterOf } from '../limits.ts';
import type { CallCheck, Caller, ChargeRefusal, KeyRefusal, PresentedCall } from '../port.ts';
import {
  accountOfRow,
  instantSql,
  isSetBack,
  USAGE_COLUMNS,
  USAGE_JOINS,
  type UsageRow,
  usageOfRow,
} from './account-rows.ts';

/** A key, with what its account has used; only `now` where no key was found. */
interface KeyRow extends UsageRow {
  readonly key: number | null;
  readonly hash: Buffer;
  readonly scopes: string;
  readonly expires_at: number | null;
  readonly retires_at: number | null;
  readonly revoked_at: number | null;
}

/** A call that the minute of its account refuses, and the credits that it lacks. */
export interface MissingCredits {
  readonly total: BatchTotal;
  readonly missing: number;
}

/** The callers of a batch and what would refuse each call, read in one round trip; a further one says when refused calls may
 * be sent again. */
export async function checkCalls(
  session: Session,
  calls: readonly PresentedCall[],
  rules: LimitRules,
): Promise<{ readonly now: number; readonly checks: CallCheck[] }> {
  const hashes = new Map<string, Buffer>();
  for (const { key = '' } of calls) {
    const hash = hashes.has(key) ? null : hashOfKey(key);
    if (hash !== null) hashes.set(key, hash);
  }
  const rows = await session.rows<KeyRow>(
    `WITH ${instantSql(rules)} SELECT k.id AS key, k.hash, k.scopes, k.expires_at, k.retires_at, k.revoked_at, ${USAGE_COLUMNS}
      FROM t LEFT JOIN keys k ON k.hash = ANY($1::bytea[]) LEFT JOIN accounts a ON a.id = k.account ${USAGE_JOINS}`,
    [[...hashes.values()]],
  );
  const now = rows[0]!.now;
  const found = new Map([...hashes].map(([key, hash]) => [key, callerOf(rows, hash, now)]));
  const refused: MissingCredits[] = [];
  const checked = calls.map(({ key = '', call }) => {
    const caller = found.get(key) ?? 'invalid';
    if (typeof caller === 'string' || call === null) return { caller, refusal: null };
    // Where the clock was set back, the transaction that charges decides.
    const refusal = refusalOf(caller.total, call, rules);
    if (refusal === null || refusal === 'period') return { caller, refusal };
    refused.push({ total: caller.total, missing: refusal.missing });
    return { caller, refusal: refused.at(-1)! };
  });
  const refusals = await rateRefusals(session, refused, rules, now);
  const checks = checked.map(({ caller, refusal }): CallCheck => {
    if (typeof caller === 'string') return caller;
    if (refusal === null) return { caller, refusal };
    return { caller, refusal: refusal === 'period' ? { failure: 'QUOTA_EXCEEDED' } : refusals.get(refusal)! };
  });
  return { now, checks };
}

function callerOf(
  rows: readonly KeyRow[],
  hash: Buffer,
  now: number,
): (Caller & { readonly total: BatchTotal }) | KeyRefusal {
  const row = rows.find((one) => one.key !== null && timingSafeEqual(one.hash, hash));
  if (row === undefined) return 'unknown';
  const state = stateOf({ expiresAt: row.expires_at, retiresAt: row.retires_at, revokedAt: row.revoked_at }, now);
  if (state !== 'active' && state !== 'rotating') return 'invalid';
  const scopes = new Set(row.scopes.split(','));
  const account = accountOfRow(row);
  const total = newTotal(account, usageOfRow(row, account, isSetBack(row) ? 0 : null));
  return { key: row.key!, account, total, may: (scope) => scopes.has(scope) };
}

/** The refusals of calls that the minute refuses, with the seconds after which each fits: asked once for each account and
 * number of credits. */
export async function rateRefusals(
  session: Session,
  refused: readonly MissingCredits[],
  rules: LimitRules,
  now: number,
): Promise<ReadonlyMap<MissingCredits, ChargeRefusal>> {
  const nameOf = ({ total, missing }: MissingCredits) => `${total.account.id} ${missing}`;
  const distinct = [...new Map(refused.map((one) => [nameOf(one), one])).values()];
  const freedBy = new Map<string, number | null>();
  if (distinct.length > 0 && rules.rateWindow === 'sliding') {
    const rows = await session.rows<{ freed_by: number | null }>(
      `SELECT (SELECT charged_at FROM (SELECT charged_at, sum(credits) OVER (ORDER BY charged_at, id) AS freed FROM charges
            WHERE account = q.account AND charged_at > q.minute_start) s
          WHERE freed >= q.missing ORDER BY charged_at LIMIT 1) AS freed_by
        FROM unnest($1::int[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS q(account, minute_start, missing, place)
        ORDER BY q.place`,
      [
        distinct.map(({ total }) => total.account.id),
        distinct.map(({ total }) => total.before.minuteFrom),
        distinct.map(({ missing }) => missing),
      ],
    );
    for (const [index, one] of distinct.entries()) freedBy.set(nameOf(one), rows[index]!.freed_by);
  }
  return new Map(
    refused.map((one) => [
      one,
      { failure: 'RATE_LIMITED', retryAfter: retryAfterOf(rules, freedBy.get(nameOf(one)) ?? null, now) },
    ]),
  );
}
