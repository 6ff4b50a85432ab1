import type { Call } from '../contract/credits.ts';
import { pathOf } from '../contract/credits.ts';
import { type Cell, type Location, locationOf, MAX_PRECISION, UNITS_PER_DEGREE } from '../geo/coordinates.ts';
import { distanceMeters } from '../geo/distance.ts';
import type { HeaderMap } from './exchange.ts';
import type { Malformed, NoData, Refused, Rejected, Verdict } from './verdict.ts';

/** So many answers must repeat the asked place exactly before one that does not is refused. */
const EXACT_ANSWERS = 3;

/** A cache gives the same answer again soon: older ones need not be remembered. Some 2 MB. */
const REMEMBERED = 10_000;

/** A service that repeats the place exactly repeats it to the last digit; that rounds it to d digits, to within 1e-d. */
const WITHIN = 0.99;

const CACHE = 'a cache between this machine and the service';

export const REPEATED_NOTICE = `Different calls were answered with the same request id: ${CACHE} may have answered in its place. Where the service is behind a proxy or a CDN, turn its cache off.`;
export const AGED_NOTICE = `An answer came with an Age header: ${CACHE} answered in its place, so it may be old. Where the service is behind a proxy or a CDN, turn its cache off.`;

/** What is known of one answer beside its verdict. */
export interface AnswerFacts {
  readonly cell: Cell;
  readonly call: Call;
  readonly headers: HeaderMap;
}

/** A verdict, and what the user should be told. */
export interface Checked<Result> {
  readonly verdict: Verdict<Result>;
  readonly notice: string | null;
}

/**
 * Checks that answers were made for the calls that they came on. A cache that ignores the query answers every place with
 * the first one's answer; where places are less than a kilometre apart, nothing but this shows it.
 *
 * An answer whose place is not the asked one is refused when a cache gave it (it has an age, or its request id came on
 * another call), or when the service repeated the first places exactly. A service that moves places to a grid of its own
 * is held to the kilometre of `readEnvelope` only.
 */
export class AnswerOrigin {
  readonly #precision: number;
  /** The call that each answer came on, by the answer's request id. */
  readonly #calls = new Map<string, string>();
  #exact = 0;
  /** Most digits that were repeated exactly: a place of few digits says nothing of a service that rounds to more. */
  #digits = 0;
  #inexact = 0;

  /** @param precision the decimals of the asked places */
  constructor(precision: number) {
    this.#precision = precision;
  }

  check<Result>(verdict: Verdict<Result>, { cell, call, headers }: AnswerFacts): Checked<Result> {
    const isRepeated = this.#isRepeated(verdict, cell, call);
    const isAged = Number(headers.age) > 0;
    const notice = isRepeated ? REPEATED_NOTICE : isAged ? AGED_NOTICE : null;
    const isCached = isRepeated || isAged;
    // Nobody knows which place it was said of: it is not kept as a fact about this one.
    if ((verdict.kind === 'rejected' || verdict.kind === 'no_data') && isCached) {
      return { verdict: asUnexplained(verdict), notice };
    }
    if (verdict.kind !== 'answered') return { verdict, notice };
    const asked = locationOf(cell);
    const degrees = degreesApart(asked, verdict.resolved);
    if (degrees < 0.5 * 10 ** -this.#precision) {
      if (!isCached) this.#sawExact(cell);
      return { verdict, notice };
    }
    const isLearned = this.#exact >= EXACT_ANSWERS && this.#inexact === 0;
    if (isCached) return { verdict: elsewhere(verdict, asked, `it came out of ${CACHE}`), notice };
    if (isLearned && degrees > WITHIN * 10 ** -this.#digits) {
      return { verdict: elsewhere(verdict, asked, 'the service repeated earlier places exactly'), notice };
    }
    if (!isLearned) this.#inexact++;
    return { verdict, notice };
  }

  #sawExact({ lat7, lng7 }: Cell): void {
    this.#exact++;
    this.#digits = Math.max(this.#digits, digitsOf(lat7), digitsOf(lng7));
  }

  #isRepeated(verdict: Verdict, cell: Cell, call: Call): boolean {
    const id = verdict.kind === 'answered' ? (verdict.requestId ?? verdict.fingerprint) : verdict.requestId;
    if (id === null) return false;
    const { lat, lng } = locationOf(cell);
    const path = pathOf(call, lat, lng);
    const known = this.#calls.get(id);
    if (known !== undefined) return known !== path;
    if (this.#calls.size >= REMEMBERED) this.#calls.delete(this.#calls.keys().next().value!);
    this.#calls.set(id, path);
    return false;
  }
}

function elsewhere<Result>(
  { charged, discrepancy, requestId, rate, resolved }: Extract<Verdict<Result>, { kind: 'answered' }>,
  asked: Location,
  why: string,
): Malformed {
  const meters = Math.max(1, Math.round(distanceMeters(asked, resolved)));
  const message = `The answer is for another place (${meters} m away): ${why}`;
  return { kind: 'malformed', reason: 'elsewhere', charged, message, discrepancy, requestId, rate };
}

function asUnexplained(verdict: Rejected | NoData): Refused {
  return { ...verdict, kind: 'unexplained', isPage: false, message: `${verdict.message}; it came out of ${CACHE}` };
}

function degreesApart(a: Location, b: Location): number {
  return Math.max(Math.abs(a.lat - b.lat), Math.abs(a.lng - b.lng));
}

/** The decimals of a coordinate in units of 1e-7 degrees. */
function digitsOf(units: number): number {
  let digits = MAX_PRECISION;
  for (let rest = Math.abs(units) % UNITS_PER_DEGREE; digits > 0 && rest % 10 === 0; rest /= 10) digits--;
  return digits;
}
