/** Unknown keys that an address may send within a minute before it has to wait. */
const GUESSES = 20;
const WINDOW_MS = 60_000;
/** Addresses kept; a further one replaces the one whose minute began first. */
const ADDRESSES = 10_000;

/** Counts an unknown key of an address.
 * @returns seconds to wait when the address has used up its guesses of this minute, else null */
export type TakeGuess = (address: string, now: number) => number | null;

/** Makes the count of guessed keys by address. A minute begins with its first guess, and guesses that were refused do not
 * make it longer. Times are the caller's, in milliseconds since the epoch. */
export function createKeyGuesses(addresses: number = ADDRESSES): TakeGuess {
  // In the order in which the minutes began.
  const guessesOf = new Map<string, { readonly since: number; count: number }>();
  return (address, now) => {
    const guesses = guessesOf.get(address);
    // If the clock was set back, the minute would last that much longer.
    if (guesses === undefined || now >= guesses.since + WINDOW_MS || now < guesses.since) {
      guessesOf.delete(address);
      if (guessesOf.size >= addresses) guessesOf.delete(guessesOf.keys().next().value!);
      guessesOf.set(address, { since: now, count: 1 });
      return null;
    }
    if (guesses.count >= GUESSES) return Math.ceil((guesses.since + WINDOW_MS - now) / 1_000);
    guesses.count += 1;
    return null;
  };
}
