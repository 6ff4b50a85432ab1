import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Settlements } from '../accounts/sqlite/settlements.ts';

/** Settles each pending charge by how its response ended. Disposing it settles what has ended, and takes back what has
 * not. */
export interface DeliveryTracker extends Disposable {
  /** To be called before the response is sent; `socket` is the request's. */
  watch(response: ServerResponse, socket: Socket, charge: number): void;
  /** Runs a transaction that may settle what has ended. When it fails, or does not settle, that is done later. */
  settleBy<Result>(transaction: (settle: () => void) => Result): Result;
}

/** How long delivered charges wait for a transaction that charges calls before they get one of their own, in milliseconds:
 * under load the next calls come sooner. */
const SETTLE_MS = 5;

/** When settling failed, because another process holds the database: milliseconds until the next try. */
const RETRY_MS = 500;

/**
 * Makes the delivery tracker. Delivered charges are settled by the transaction that charges the next calls, or after 5 ms
 * by one of their own; undelivered ones are taken back at once. Waiting longer would lose more when the process dies: the
 * charges of answers that had arrived. At most one a connection is lost, because its next charge settles the one before.
 */
export function createDeliveryTracker(settlements: Settlements, onError: (error: unknown) => void): DeliveryTracker {
  const open = new Set<number>();
  // By socket, because a response that is queued behind another gets no event when its connection ends.
  const openOn = new WeakMap<Socket, Set<number>>();
  let ended: { readonly delivered: number[]; readonly undelivered: number[] } = { delivered: [], undelivered: [] };
  let timer: NodeJS.Timeout | null = null;
  // Whether the last try failed: then the next one waits for its time.
  let failed = false;

  function settleEnded(): void {
    if (ended.delivered.length + ended.undelivered.length === 0) return;
    settlements.settle(ended);
    ended = { delivered: [], undelivered: [] };
  }

  function trySettling(): void {
    clearTimeout(timer ?? undefined);
    timer = null;
    failed = false;
    try {
      settleEnded();
    } catch (error) {
      onError(error);
      failed = true;
      timer = setTimeout(trySettling, RETRY_MS).unref();
    }
  }

  function end(charge: number, delivered: boolean): void {
    if (!open.delete(charge)) return;
    if (delivered) {
      ended.delivered.push(charge);
      timer ??= setTimeout(trySettling, SETTLE_MS).unref();
    } else {
      ended.undelivered.push(charge);
      // At once: undelivered credits must not cause a refusal.
      setImmediate(() => {
        if (ended.undelivered.length > 0 && !failed) trySettling();
      });
    }
  }

  function chargesOn(socket: Socket): Set<number> {
    const known = openOn.get(socket);
    if (known !== undefined) return known;
    const charges = new Set<number>();
    openOn.set(socket, charges);
    socket.once('close', () => {
      for (const charge of charges) end(charge, false);
      charges.clear();
    });
    return charges;
  }

  return {
    watch(response, socket, charge) {
      open.add(charge);
      // A client that left while its call waited is not charged; the socket's `close` event has passed.
      if (socket.destroyed) {
        end(charge, false);
        return;
      }
      const charges = chargesOn(socket);
      charges.add(charge);
      // A response finishes once; removing the listener would cost as much as calling it.
      response.prependListener('finish', () => {
        // Not twice: the id of a charge that was taken back is used again.
        if (!charges.delete(charge)) return;
        // When a socket is destroyed, Node reports some of the writes that wait on it as finished.
        end(charge, !socket.destroyed && !socket.errored);
      });
    },
    settleBy(transaction) {
      let settled = false;
      const result = transaction(() => {
        settlements.settle(ended);
        settled = true;
      });
      if (settled) ended = { delivered: [], undelivered: [] };
      return result;
    },
    [Symbol.dispose]() {
      clearTimeout(timer ?? undefined);
      ended.undelivered.push(...open);
      open.clear();
      settleEnded();
    },
  };
}
