import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Settlements } from '../accounts/settlements.ts';

/** Watches the responses whose charges are pending, and settles each by how its response ended. */
export interface DeliveryTracker {
  /** To be called before the response is sent; `socket` is the request's. */
  watch(response: ServerResponse, socket: Socket, charge: number): void;
  /** Lets a transaction that is about to be made settle what has ended. When it fails or does not, that is settled later. */
  settleBy<Result>(transaction: (settle: () => void) => Result): Result;
  /** Settles what has ended, and takes back what has not. */
  close(): void;
}

/** How long what has ended waits for a transaction that charges calls, before it gets one of its own: under load the next
 * calls come sooner than that. */
const SETTLE_MS = 5;

/** How long to wait with charges that could not be settled, because another process holds the database. */
const RETRY_MS = 500;

/**
 * Makes the watch over responses. Those that have ended are settled by the transaction that charges the next calls; when
 * there are none within 5 ms, by one of their own; what did not arrive is taken back at once. They do not wait any longer: if
 * the process died, charges whose answers have arrived would be lost. More than one a connection is never lost, because its
 * next charge settles the one before.
 */
export function createHandover(settlements: Settlements, onError: (error: unknown) => void): DeliveryTracker {
  const open = new Set<number>();
  // By socket, because a response that is queued behind another on its connection hears nothing of the connection's end.
  const openOn = new WeakMap<Socket, Set<number>>();
  let delivered: number[] = [];
  let undelivered: number[] = [];
  let settling: NodeJS.Timeout | null = null;
  // Whether the last try failed: then there is no other before its time.
  let failed = false;

  function settleEnded(): void {
    if (delivered.length + undelivered.length === 0) return;
    settlements.settle({ delivered, undelivered });
    forgetEnded();
  }

  function settleBy<Result>(transaction: (settle: () => void) => Result): Result {
    let settled = false;
    const result = transaction(() => {
      settlements.settleWithin({ delivered, undelivered });
      settled = true;
    });
    if (settled) forgetEnded();
    return result;
  }

  function forgetEnded(): void {
    delivered = [];
    undelivered = [];
  }

  function trySettling(): void {
    clearTimeout(settling ?? undefined);
    settling = null;
    failed = false;
    try {
      settleEnded();
    } catch (error) {
      onError(error);
      failed = true;
      settling = setTimeout(trySettling, RETRY_MS).unref();
    }
  }

  function end(charge: number, whole: boolean): void {
    if (!open.delete(charge)) return;
    if (whole) {
      delivered.push(charge);
      settling ??= setTimeout(trySettling, SETTLE_MS).unref();
    } else {
      undelivered.push(charge);
      // What nobody got does not stand in the way of another call.
      setImmediate(takeBack);
    }
  }

  function takeBack(): void {
    if (undelivered.length > 0 && !failed) trySettling();
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
      // Who left while the call waited for its turn is not charged, and the end of the connection is not heard any more.
      if (socket.destroyed) {
        end(charge, false);
        return;
      }
      const charges = chargesOn(socket);
      charges.add(charge);
      // A response finishes once; to take the listener away then would cost as much as to call it.
      response.prependListener('finish', () => {
        // Not twice: the number of a charge that was taken back is given again.
        if (!charges.delete(charge)) return;
        // A socket that is destroyed fails the writes that wait on it, and Node reports some of those as finished.
        end(charge, !socket.destroyed && !socket.errored);
      });
    },
    settleBy,
    close() {
      undelivered.push(...open);
      open.clear();
      settleEnded();
    },
  };
}
