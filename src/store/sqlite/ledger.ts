import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import { byOthers, MINUTE_MARGIN_MS, periodLeft, refusal, type Usage } from '../admission.ts';
import type { ChargeState, Claim, ClaimLimits, ClaimRequest, Owner, Settlement } from '../port.ts';
import type { cellStatements } from './answers.ts';
import type { areaStatements } from './area-answers.ts';
import { areaClaims } from './area-claims.ts';
import type { detailsStatements } from './details.ts';
import { openLedgerClock } from './ledger-clock.ts';
import { recentCalls } from './minute-window.ts';
import type { runStatements } from './runs.ts';
import type { observationStatements } from './service-observations.ts';
import type { spendingSums } from './spending-sums.ts';

interface OpenCall {
  readonly id: number;
  readonly run: number;
  readonly owner: string;
  readonly lease_until: number;
}

interface LedgerCall {
  readonly run: number;
  readonly source: number;
  readonly account: string;
  readonly period_start: number;
  readonly kind: 'single' | 'standard' | 'enterprise';
  readonly key: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly charge: ChargeState;
  readonly credits: number;
  readonly claimed_at: number;
  readonly credits_left: number | null;
}

/** The statements of the other tables that change with the ledger. */
interface Kept {
  readonly sums: ReturnType<typeof spendingSums>;
  readonly cells: ReturnType<typeof cellStatements>;
  readonly areas: ReturnType<typeof areaStatements>;
  readonly details: ReturnType<typeof detailsStatements>;
  readonly observations: ReturnType<typeof observationStatements>;
  readonly runs: ReturnType<typeof runStatements>;
}

/** The ledger's rules. All functions run inside the caller's `BEGIN IMMEDIATE` transaction. */
export function ledgerStatements(
  database: Database.Database,
  { sums, cells, areas, details, observations, runs }: Kept,
  clock: Clock,
  owner: Owner,
) {
  const time = openLedgerClock(database, clock);
  const openCallsAt = database.prepare<[number, number, number], OpenCall>(
    "SELECT id, run, owner, lease_until FROM calls WHERE source = ? AND lat7 = ? AND lng7 = ? AND charge = 'sent'",
  );
  const allOpen = database.prepare<[], OpenCall>("SELECT id, run, owner, lease_until FROM calls WHERE charge = 'sent'");
  const recent = recentCalls(database);
  const inAreas = areaClaims(database, areas);
  const insertCall = database.prepare(
    `INSERT INTO calls (run, source, account, period_start, key, kind, topic, lat7, lng7, price, charge, credits, owner, claimed_at, lease_until, credits_left)
     VALUES (@run, @source, @account, @period, @key, @kind, @topic, @lat7, @lng7, @price, 'sent', @price, @owner, @now, @lease, @left)`,
  );
  const callOf = database.prepare<[number], LedgerCall>(
    `SELECT run, source, account, period_start, kind, key, lat7, lng7, charge, credits, claimed_at, credits_left
     FROM calls WHERE id = ?`,
  );
  const settleCall = database.prepare(
    `UPDATE calls SET charge = @charge, credits = @credits, period_start = @period, settled_at = @now,
       outcome = @outcome, request_id = @requestId WHERE id = @call`,
  );
  // A call that was claimed before a correction says nothing about the time after it.
  const exhaust = database.prepare(
    `UPDATE periods SET exhausted_at = @now, exhausted_left = @left WHERE account = @account AND period_start = @period
       AND exhausted_at IS NULL AND coalesce(corrected_at, @claimedAt) <= @claimedAt`,
  );

  /** Moves a call from one charge to another, in the ledger and in the sums. */
  function move(
    call: number,
    to: { charge: ChargeState; credits: number; period: number; outcome: string; requestId?: string | undefined },
  ): LedgerCall | null {
    const before = callOf.get(call);
    if (!before) return null;
    sums.add(before.account, before.period_start, before.run, before.charge, -before.credits);
    sums.add(before.account, to.period, before.run, to.charge, to.credits);
    if (before.charge === 'sent') inAreas.end(call);
    settleCall.run({
      call,
      charge: to.charge,
      credits: to.credits,
      period: to.period,
      now: time.now(),
      outcome: to.outcome,
      requestId: to.requestId ?? null,
    });
    return before;
  }

  /** A claim whose owner died may have been sent and charged: its charge is unknown. */
  function giveUpIfDead(open: OpenCall): boolean {
    if (open.lease_until > time.now() && (open.owner === owner.name || owner.isAlive(open.owner))) return false;
    const before = callOf.get(open.id)!;
    move(open.id, {
      charge: 'unknown',
      credits: before.credits,
      period: before.period_start,
      outcome: 'process ended',
    });
    return true;
  }

  /** Whether some of these calls belong to another running run, in this process (perilbook ui) or another. Calls of dead
   * processes are settled as unknown. */
  function isAtWork(calls: readonly OpenCall[], run: number): boolean {
    const others = calls.filter((call) => call.run !== run || call.lease_until <= time.now());
    return others.filter((call) => !giveUpIfDead(call)).length > 0;
  }

  function claimedElsewhere({ source, run }: ClaimLimits, { cell, areas: wanted = [] }: ClaimRequest): boolean {
    if (isAtWork(openCallsAt.all(source, cell.lat7, cell.lng7), run)) return true;
    return wanted.some((area) => isAtWork(inAreas.open(source, area), run));
  }

  function standing(terms: ClaimLimits): Usage {
    const minute = recent(terms.account, time.now() - RATE_WINDOW_MS - MINUTE_MARGIN_MS);
    time.catchUp(minute.latest);
    return {
      period: sums.ofPeriod(terms.account, terms.countedSince ?? terms.period.start),
      run: sums.ofRun(terms.run),
      underPlan: terms.plan ? runs.underPlan(terms.plan.id) : null,
      inFlight: sums.inFlight(terms.account),
      recent: minute,
    };
  }

  function claim(terms: ClaimLimits, request: ClaimRequest): Claim {
    const { cell, call, credits, wanted } = request;
    const known = cells.read(terms.source, cell);
    if (known && wanted.some(({ topic, freshSince }) => (known.answers.get(topic)?.asOf ?? -1) >= freshSince)) {
      return { outcome: 'answered' };
    }
    if (request.areas?.some((area) => inAreas.isAnswered(terms.source, area))) return { outcome: 'answered' };
    if (claimedElsewhere(terms, request)) return { outcome: 'claimed' };
    const limits = { ...terms, windowMs: RATE_WINDOW_MS };
    const now = standing(terms);
    const refused = refusal(now, limits, credits, time.now());
    if (refused) return refused;
    const { lastInsertRowid } = insertCall.run({
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
      now: clock.now(),
      lease: time.now() + terms.leaseMs,
      left: periodLeft(now.period, terms),
    });
    for (const area of request.areas ?? []) inAreas.add(Number(lastInsertRowid), terms.source, area);
    sums.add(terms.account, terms.period.start, terms.run, 'sent', credits);
    return { outcome: 'granted', call: Number(lastInsertRowid), byOthers: byOthers(now, terms.run) };
  }

  function settle(settlement: Settlement): void {
    const before = move(settlement.call, {
      charge: settlement.charge,
      credits: settlement.credits,
      period: settlement.period.start,
      outcome: settlement.outcome,
      requestId: settlement.requestId,
    });
    if (!before) return;
    cells.merge(before.source, before, settlement.answers, settlement.failures);
    if (settlement.details) details.keep(before.source, before, settlement.details);
    for (const area of settlement.areas ?? []) areas.merge(before.source, area);
    const { answers, contents, refused, sample = false } = settlement;
    if (answers.length > 0) {
      observations.rememberSample(before.source, sample, Math.max(...answers.map(({ asOf }) => asOf)));
    }
    if (contents) observations.rememberBundle(before.source, contents.kind, contents.topics);
    if (refused) observations.rememberRefusal(before.source, before.key, refused);
    // Just after an anniversary the provider's clock may still be before it: then it means the old quota.
    if (settlement.exhausted && before.claimed_at >= before.period_start + CLOCKS_APART_MS) {
      // It counts for the period in which the call was claimed: a refusal that arrives after the anniversary means the old
      // quota, and would block the new period for a month.
      exhaust.run({
        now: clock.now(),
        left: before.credits_left,
        account: before.account,
        period: before.period_start,
        claimedAt: before.claimed_at,
      });
    }
  }

  /** Settles the open calls of dead processes as unknown; returns their number. */
  function giveUpDead(): number {
    return allOpen.all().filter((call) => giveUpIfDead(call)).length;
  }

  return { claim, settle, giveUpDead };
}
