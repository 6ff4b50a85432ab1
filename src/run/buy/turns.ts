/** Lets one call go first where its result decides about others, which wait for it:
 * - Calls of a topic that fails, and all calls of a service in doubt or out of reach (`RunHealth.doubtOf`): where all at work tried
 *   together, a topic that the service lacks got 128 requests.
 * - The first call of a kind without a price that holds, and after a refused key the first of each key and scope (`Payer.unproven`).
 *
 * Between processes the ledger decides about first calls, in the claim; here the others of the process wait without asking it. */
export class Turns {
  /** The holder of each turn, by what must be shown. */
  readonly #turns = new Map<
    string,
    { readonly of: object; readonly over: Promise<void>; readonly end: () => void }
  >();

  /** Takes the turns that a call needs, all or none.
   * @param holder whose turns they are until `end`
   * @returns null if it has them; else when to ask again */
  take(holder: object, needed: readonly string[]): Promise<void> | null {
    for (const name of needed) {
      const turn = this.#turns.get(name);
      if (turn !== undefined && turn.of !== holder) return turn.over;
    }
    for (const name of needed) {
      if (this.#turns.has(name)) continue;
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      this.#turns.set(name, { of: holder, over, end });
    }
    return null;
  }

  /** Ends all turns of a holder when it is disposed of. */
  ending(holder: object): Disposable {
    return {
      [Symbol.dispose]: () => {
        for (const [name, { of, end }] of this.#turns) {
          if (of !== holder) continue;
          this.#turns.delete(name);
          end();
        }
      },
    };
  }
}
