import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DeliveryOutcomes } from '../accounts/calls.ts';

/** Milliseconds until the next try after settling failed, because the database is busy or unreachable. */
const RETRY_MS = 500;

/** Settles each pending charge by the outcome of its response: those that end in one turn of the event loop, or while others are being
 * settled, in one transaction. Disposing of it settles ended charges, and reverses the others. */
export class DeliveryTracker implements AsyncDisposable {
  readonly #settle: (outcomes: DeliveryOutcomes) => Promise<void>;
  readonly #onError: (error: unknown) => void;
  readonly #open = new Set<number>();
  /** By socket, because a response queued after another gets no event when its connection ends. */
  readonly #openOn = new WeakMap<Socket, Set<number>>();
  #delivered: number[] = [];
  #undelivered: number[] = [];
  /** Cancels the next settlement; undefined when none waits or is in progress. */
  #cancel: (() => void) | undefined;
  #settling: Promise<void> = Promise.resolve();

  constructor(
    settle: (outcomes: DeliveryOutcomes) => Promise<void>,
    onError: (error: unknown) => void,
  ) {
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#settling;
    this.#cancel?.();
    this.#undelivered.push(...this.#open);
    this.#open.clear();
    // Charges that cannot be settled stay pending, and are reversed with the other pending ones of this instance.
    if (this.#delivered.length + this.#undelivered.length > 0) await this.#settleEnded();
    this.#cancel?.();
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

  #end(charge: number, isDelivered: boolean): void {
    if (!this.#open.delete(charge)) return;
    (isDelivered ? this.#delivered : this.#undelivered).push(charge);
    this.#settleIn(0);
  }

  /** Begins to settle what has ended by then, unless that will begin anyway. */
  #settleIn(ms: number): void {
    if (this.#cancel !== undefined) return;
    const begin = (): void => {
      this.#settling = this.#settleEnded();
    };
    if (ms === 0) {
      // At the end of this turn, so that a killed service leaves one answer of a connection uncharged at most: after a timer of
      // 0 ms, which takes 1, the next answer of the connection could have ended too.
      const immediate = setImmediate(begin);
      this.#cancel = () => clearImmediate(immediate);
    } else {
      const timer = setTimeout(begin, ms).unref();
      this.#cancel = () => clearTimeout(timer);
    }
  }

  async #settleEnded(): Promise<void> {
    const [delivered, undelivered] = [this.#delivered, this.#undelivered];
    [this.#delivered, this.#undelivered] = [[], []];
    let pauseMs = 0;
    try {
      await this.#settle({ delivered, undelivered });
    } catch (error) {
      this.#onError(error);
      this.#delivered.push(...delivered);
      this.#undelivered.push(...undelivered);
      pauseMs = RETRY_MS;
    }
    this.#cancel = undefined;
    if (this.#delivered.length + this.#undelivered.length > 0) this.#settleIn(pauseMs);
  }
}
