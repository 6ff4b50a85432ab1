import assert from 'node:assert/strict';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { KillScene } from './kill-scene.ts';

/** A scene whose store is `killed.db`. */
type Books = Pick<KillScene, 'harness'>;

/** A call of a ledger. */
interface Call {
  readonly call: string;
  readonly charge: 'sent' | 'charged' | 'free' | 'unknown';
  readonly credits: number;
  readonly requestId: string | null;
  /** The call and where it was made. */
  readonly at: string;
}

/** The ledger's calls, read from the file itself, as they are at this moment: opening a store would settle some. */
export function ledgerCalls(scene: Books): Call[] {
  const file = new Database(join(scene.harness.folder, 'killed.db'), { readonly: true });
  try {
    return file
      .prepare<[], Call>(
        `SELECT kind || coalesce(' ' || topic, '') AS call, charge, credits, request_id AS requestId,
           kind || coalesce(' ' || topic, '') || ' ' || lat7 || ' ' || lng7 AS at FROM calls`,
      )
      .all();
  } catch (error) {
    // Killed before its tables were made.
    if (/no such table/.test(String(error))) return [];
    throw error;
  } finally {
    file.close();
  }
}

/** The number of the service's last charge. */
export function lastCharge({ harness }: Books): number {
  return harness.accounts.prepare<[], number>('SELECT coalesce(max(id), 0) FROM charges').pluck().get()!;
}

/** Waits until the service has settled every charge: handed over, or taken back because its reader was killed. */
export async function serviceSettled({ harness }: Books): Promise<void> {
  const pending = harness.accounts
    .prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')
    .pluck();
  for (let looks = 0; pending.get()! > 0; looks++) {
    if (looks > 6_000) throw new Error('The service does not settle its charges');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Compares the service's charges with the ledger's calls, call by call.
 *
 * @param scene `price`: credits that the ledger must list as charged
 * @param since the last charge before the first run on the killed store
 * @param mostUnknown most calls that may be unknown
 */
export function assertBooksAgree(
  scene: Pick<KillScene, 'harness' | 'price'>,
  since: number,
  mostUnknown: number,
  where: string,
): void {
  const calls = ledgerCalls(scene);
  const charges = scene.harness.accounts
    .prepare<[number], { call: string; requestId: string; credits: number }>(
      `SELECT kind || coalesce(' ' || topic, '') AS call, request_id AS requestId, credits FROM charges
       WHERE id > ? AND pending_by IS NULL`,
    )
    .all(since);
  const sum = (some: readonly { credits: number }[]) => some.reduce((total, { credits }) => total + credits, 0);
  const of = (charge: Call['charge']) => calls.filter((call) => call.charge === charge);
  const [charged, unknown] = [of('charged'), of('unknown')];
  assert.deepEqual(of('sent'), [], `${where}: calls are still open`);
  assert.ok(
    unknown.length <= mostUnknown,
    `${where}: ${unknown.length} calls unknown, at most ${mostUnknown} expected`,
  );
  const unanswered = new Map(charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, credits, at } of charged) {
    assert.equal(unanswered.get(requestId!)?.credits, credits, `${where}: the service knows nothing of ${at}`);
    unanswered.delete(requestId!);
  }
  // What the service charged and the ledger has no answer to must be among its unknown calls, call by call.
  const unexplained = unknown.map(({ call }) => call);
  for (const { call } of unanswered.values()) {
    const index = unexplained.indexOf(call);
    assert.ok(index >= 0, `${where}: charged and not in the ledger: ${call}`);
    unexplained.splice(index, 1);
  }
  assert.equal(new Set(charged.map(({ at }) => at)).size, charged.length, `${where}: something was bought twice`);
  assert.equal(sum(charged), scene.price, `${where}: the ledger's credits are those of an undisturbed run`);
}
