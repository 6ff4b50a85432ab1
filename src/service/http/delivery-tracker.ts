import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DeliveryOutcomes } from '../accounts/calls.ts';

/** Settles each pending charge by the outcome of its response. Disposing of it settles ended ones, and reverses the
 * others. */
export interface DeliveryTracker extends AsyncDisposable {
  /** To be called before the response is sent; `socket` is the request's. */
  watch(response: ServerResponse, socket: Socket, charge: number): void;
  /** Passes ended charges to a transaction that settles them. If the transaction fails, they are settled later. */
  settleWith<Result>(transaction: (outcomes: DeliveryOutcomes) => Promise<Result>): Promise<Result>;
}

/** How long delivered charges wait for a transaction that charges calls before they get one of their own, in milliseconds:
 * under load the next calls come sooner. */
const SETTLE_MS = 5;

/** Milliseconds until the next try after settling failed, because the database is busy or unreachable. */
const RETRY_MS = 500;

/**
 * Makes the delivery tracker. Delivered charges are settled by the transaction that charges the next calls, or after 5 ms
 * by one of their own; undelivered ones are reversed at once. With a longer wait, a dying process would lose more charges
 * of delivered answers. It loses at most one per connection, because the next charge settles the one before.
 */
export function createDeliveryTracker(
  settle: (outcomes: DeliveryOutcomes) => Promise<void>,
  onError: (error: unknown) => void,
): DeliveryTracker {
  const open = new Set<number>();
  // By socket, because a response queued after another gets no event when its connection ends.
  const openOn = new WeakMap<Socket, Set<number>>();
  let unsettled: { readonly delivered: number[]; readonly undelivered: number[] } = { delivered: [], undelivered: [] };
  let timer: NodeJS.Timeout | null = null;
  // Whether the last try failed, so that the next one must wait.
  let failed = false;
  let settling: Promise<void> = Promise.resolve();

  async function settleWith<Result>(transaction: (outcomes: DeliveryOutcomes) => Promise<Result>): Promise<Result> {
    const outcomes = unsettled;
    unsettled = { delivered: [], undelivered: [] };
    // Under load a transaction that charges calls always comes first: without clearing, the timer would add 200 transactions a second.
    if (!failed) stopTimer();
    try {
      return await transaction(outcomes);
    } catch (error) {
      unsettled.delivered.push(...outcomes.delivered);
      unsettled.undelivered.push(...outcomes.undelivered);
      if (hasEnded()) timer ??= setTimeout(trySettling, RETRY_MS).unref();
      throw error;
    }
  }

  function hasEnded(): boolean {
    return unsettled.delivered.length + unsettled.undelivered.length > 0;
  }

  function stopTimer(): void {
    clearTimeout(timer ?? undefined);
    timer = null;
  }

  function trySettling(): void {
    stopTimer();
    failed = false;
    if (!hasEnded()) return;
    settling = settleWith(settle).catch((error: unknown) => {
      onError(error);
      failed = true;
    });
  }

  function end(charge: number, delivered: boolean): void {
    if (!open.delete(charge)) return;
    if (delivered) {
      unsettled.delivered.push(charge);
      timer ??= setTimeout(trySettling, SETTLE_MS).unref();
    } else {
      unsettled.undelivered.push(charge);
      // At once: undelivered credits must not cause a refusal.
      setImmediate(() => {
        if (unsettled.undelivered.length > 0 && !failed) trySettling();
      });
    }
  }

  function chargesOn(socket: Socket): Set<number> {
    const existing = openOn.get(socket);
    if (existing !== undefined) return existing;
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
        // The `close` event of the socket may have ended it already.
        if (!charges.delete(charge)) return;
        // When a socket is destroyed, Node reports some of the writes that wait on it as finished.
        end(charge, !socket.destroyed && !socket.errored);
      });
    },
    settleWith,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer ?? undefined);
      await settling;
      clearTimeout(timer ?? undefined);
      unsettled.undelivered.push(...open);
      open.clear();
      // Charges that cannot be settled stay pending, and are reversed with the other pending ones of this instance.
      if (hasEnded()) await settle(unsettled).catch(onError);
      unsettled = { delivered: [], undelivered: [] };
    },
  };
}
