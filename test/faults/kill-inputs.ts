import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { KillScene } from './kill-scene.ts';

/** A scene whose store is `killed.db`. */
type Books = Pick<KillScene, 'harness'>;

/** A call of a ledger. */
export interface Call {
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

/** Charges that the service made for runs on the killed store: all but those of the undisturbed run. */
export function serviceCharges(
  { harness }: Books,
  since: number,
): { call: string; requestId: string; credits: number }[] {
  return harness.accounts
    .prepare<[number], { call: string; requestId: string; credits: number }>(
      `SELECT kind || coalesce(' ' || topic, '') AS call, request_id AS requestId, credits FROM charges
       WHERE id > ? AND pending_by IS NULL`,
    )
    .all(since);
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

/** Compares the service's charges with the calls of a ledger in a file; see `compareCalls`. */
export function compareBooks(
  scene: Pick<KillScene, 'harness' | 'price'>,
  since: number,
  kills: number,
  sockets: number,
): string[] {
  const { price } = scene;
  return compareCalls(ledgerCalls(scene), serviceCharges(scene, since), { price, unknown: kills * sockets });
}

/**
 * Compares the service's charges with the ledger's calls. Returns what is wrong, in words; nothing when all is right.
 *
 * @param expected `price`: credits that the ledger must list as charged; `unknown`: most calls that may be unknown
 */
export function compareCalls(
  calls: readonly Call[],
  charges: ReturnType<typeof serviceCharges>,
  expected: { readonly price: number; readonly unknown: number },
): string[] {
  const wrong: string[] = [];
  const sum = (some: readonly { credits: number }[]) => some.reduce((total, { credits }) => total + credits, 0);
  const of = (charge: Call['charge']) => calls.filter((call) => call.charge === charge);
  const [charged, unknown] = [of('charged'), of('unknown')];
  if (of('sent').length > 0) wrong.push(`${of('sent').length} calls are still open`);
  if (unknown.length > expected.unknown)
    wrong.push(`${unknown.length} calls unknown, at most ${expected.unknown} expected`);
  const known = new Map(charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, credits, at } of charged) {
    if (requestId === null || known.get(requestId)?.credits !== credits)
      wrong.push(`the service knows nothing of ${at}`);
    else known.delete(requestId);
  }
  // What the service charged and the ledger has no answer to must be among its unknown calls, call by call.
  const unexplained = unknown.map(({ call }) => call);
  for (const { call } of known.values()) {
    const index = unexplained.indexOf(call);
    if (index < 0) wrong.push(`charged and not in the ledger: ${call}`);
    else unexplained.splice(index, 1);
  }
  const inVain = sum([...known.values()]);
  if (sum(charges) !== sum(charged) + inVain)
    wrong.push(`${sum(charges)} credits charged, ${sum(charged)} in the ledger, ${inVain} in vain`);
  const answered = new Set<string>();
  for (const { at } of charged) {
    if (answered.has(at)) wrong.push(`bought twice: ${at}`);
    answered.add(at);
  }
  if (sum(charged) !== expected.price)
    wrong.push(`${sum(charged)} credits in the ledger, ${expected.price} undisturbed`);
  return wrong;
}
