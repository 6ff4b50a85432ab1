import { type Call, formatPath } from '../contract/credits.ts';
import { type Cell, distanceMeters, type Location, locationOf } from '../geo/coordinates.ts';
import type { HeaderMap } from './exchange.ts';
import type { Malformed, NoData, Refused, Rejected, Verdict } from './verdict.ts';

/** A cache repeats an answer soon, so older ones need not be kept: about 2 MB. */
const REMEMBERED = 10_000;

const CACHE = 'a cache between this machine and the service';

export const REPEATED_NOTICE = `Different calls were answered with the same request id: ${CACHE} may have answered in its place. Where the service is behind a proxy or a CDN, turn its cache off.`;
export const AGED_NOTICE = `An answer came with an Age header: ${CACHE} answered in its place, so it may be old. Where the service is behind a proxy or a CDN, turn its cache off.`;

/** Checks that each answer belongs to its call. A cache that ignores the query answers every location with the first one's answer;
 * where locations are less than a kilometre apart, only this check notices it.
 *
 * An answer for another location is refused if it came from a cache (it has an age, or its request id was on another call). Any other may be
 * that of a service with its own grid, which only has to stay within the kilometre of `readEnvelope`. */
export class AnswerOrigin {
  readonly #precision: number;
  /** The call of each answer, by the answer's request id. */
  readonly #calls = new Map<string, string>();

  /** @param precision the decimals of the requested locations */
  constructor(precision: number) {
    this.#precision = precision;
  }

  /** The verdict on an answer to a call, and a notice for the user if there is one. */
  check(
    verdict: Verdict,
    {
      cell,
      call,
      headers,
    }: { readonly cell: Cell; readonly call: Call; readonly headers: HeaderMap },
  ): { readonly verdict: Verdict; readonly notice: string | null } {
    const isRepeated = this.#isRepeated(verdict, cell, call);
    const isAged = Number(headers.age) > 0;
    const notice = isRepeated ? REPEATED_NOTICE : isAged ? AGED_NOTICE : null;
    const isCached = isRepeated || isAged;
    // The answer's location is unknown, so it is not stored as a fact about this one.
    if ((verdict.kind === 'rejected' || verdict.kind === 'no_data') && isCached) {
      return { verdict: asUnexplained(verdict), notice };
    }
    if (verdict.kind !== 'answered') return { verdict, notice };
    const asked = locationOf(cell);
    const { lat, lng } = verdict.resolved;
    const degrees = Math.max(Math.abs(asked.lat - lat), Math.abs(asked.lng - lng));
    const isElsewhere = degrees >= 0.5 * 10 ** -this.#precision;
    return { verdict: isElsewhere && isCached ? elsewhere(verdict, asked) : verdict, notice };
  }

  #isRepeated(verdict: Verdict, cell: Cell, call: Call): boolean {
    const id =
      verdict.kind === 'answered' ? (verdict.requestId ?? verdict.fingerprint) : verdict.requestId;
    if (id === null) return false;
    const { lat, lng } = locationOf(cell);
    const path = formatPath(call, lat, lng);
    const answered = this.#calls.get(id);
    if (answered !== undefined) return answered !== path;
    if (this.#calls.size >= REMEMBERED) this.#calls.delete(this.#calls.keys().next().value!);
    this.#calls.set(id, path);
    return false;
  }
}

function elsewhere(verdict: Extract<Verdict, { kind: 'answered' }>, asked: Location): Malformed {
  const { charged, stated, discrepancy, unbelievable, requestId, rate, resolved } = verdict;
  const meters = Math.max(1, Math.round(distanceMeters(asked, resolved)));
  const message = `The answer is for another location (${meters} m away): it came from ${CACHE}`;
  const cost = { charged, stated, discrepancy, unbelievable };
  return { kind: 'malformed', reason: 'elsewhere', message, ...cost, requestId, rate };
}

function asUnexplained(verdict: Rejected | NoData): Refused {
  const reason = `(${verdict.status})`;
  const message = `${verdict.message}; it came from ${CACHE}`;
  const refused = { isScopeNamed: false, isOfService: true, reason, message };
  return { ...verdict, kind: 'unexplained', ...refused };
}
