import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DeliveryOutcomes } from '../accounts/calls.ts';

/** How long delivered charges wait for a transaction that charges calls before they get one of their own, in milliseconds:
 * under load the next calls come sooner. */
const SETTLE_MS = 5;

/** Milliseconds until the next try after settling failed, because the database is busy or unreachable. */
const RETRY_MS = 500;

/** Settles each pending charge by the outcome of its response. Delivered charges are settled by the transaction that charges the next
 * calls, or after 5 ms by one of their own; undelivered ones are reversed at once. With a longer wait, a dying process would lose more
 * charges of delivered answers. It loses at most one per connection, because the next charge settles the one before.
 *
 * Disposing of it settles ended charges, and reverses the others. */
export class DeliveryTracker implements AsyncDisposable {
  readonly #settle: (outcomes: DeliveryOutcomes) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Set<number>();
  /** By socket, because a response queued after another gets no event when its connection ends. */
  readonly #openOn = new WeakMap<Socket, Set<number>>();
  #delivered: number[] = [];
  #undelivered: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last try failed, so that the next one must wait. */
  #failed = false;
  #settling: Promise<void> = Promise.resolve();

  constructor(settle: (outcomes: DeliveryOutcomes) => Promise<void>, onError: (error: unknown) => void) {
    this.#settle = settle;
    this.#onError = onError;
  }

  /** To be called before the response is sent; `socket` is the request's. */
  watch(response: ServerResponse, socket: Socket, charge: number): void {
    this.#open.add(charge);
    // A client that left while its call waited is not charged; the socket's `close` event has passed.
    if (socket.destroyed) {
      this.#end(charge, false);
      return;
    }
    const charges = this.#chargesOn(socket);
    charges.add(charge);
    // A response finishes once; removing the listener would cost as much as calling it.
    response.prependListener('finish', () => {
      // The `close` event of the socket may have ended it already.
      if (!charges.delete(charge)) return;
      // When a socket is destroyed, Node reports some of the writes that wait on it as finished.
      this.#end(charge, !socket.destroyed && !socket.errored);
    });
  }

  /** Passes ended charges to a transaction that settles them. If the transaction fails, they are settled later. */
  async settleWith<Result>(transaction: (outcomes: DeliveryOutcomes) => Promise<Result>): Promise<Result> {
    const [delivered, undelivered] = [this.#delivered, this.#undelivered];
    [this.#delivered, this.#undelivered] = [[], []];
    // Under load a transaction that charges calls always comes first: without clearing, the timer would add 200 transactions a second.
    if (!this.#failed) this.#stopTimer();
    try {
      return await transaction({ delivered, undelivered });
    } catch (error) {
      this.#delivered.push(...delivered);
      this.#undelivered.push(...undelivered);
      this.#settleIn(RETRY_MS);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#settling;
    this.#stopTimer();
    this.#undelivered.push(...this.#open);
    this.#open.clear();
    // Charges that cannot be settled stay pending, and are reversed with the other pending ones of this instance.
    if (!this.#hasEnded()) return;
    await this.#settle({ delivered: this.#delivered, undelivered: this.#undelivered }).catch(this.#onError);
    [this.#delivered, this.#undelivered] = [[], []];
  }

  #chargesOn(socket: Socket): Set<number> {
    const existing = this.#openOn.get(socket);
    if (existing !== undefined) return existing;
    const charges = new Set<number>();
    this.#openOn.set(socket, charges);
    socket.once('close', () => {
      for (const charge of charges) this.#end(charge, false);
      charges.clear();
    });
    return charges;
  }

  #end(charge: number, delivered: boolean): void {
    if (!this.#open.delete(charge)) return;
    if (delivered) {
      this.#delivered.push(charge);
      this.#settleIn(SETTLE_MS);
    } else {
      this.#undelivered.push(charge);
      // At once: undelivered credits must not cause a refusal.
      setImmediate(() => {
        if (!this.#failed) this.#settleNow();
      });
    }
  }

  #settleIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#settleNow(), ms).unref();
  }

  #settleNow(): void {
    this.#stopTimer();
    this.#failed = false;
    if (!this.#hasEnded()) return;
    this.#settling = this.settleWith(this.#settle).catch((error: unknown) => {
      this.#onError(error);
      this.#failed = true;
    });
  }

  #hasEnded(): boolean {
    return this.#delivered.length + this.#undelivered.length > 0;
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
