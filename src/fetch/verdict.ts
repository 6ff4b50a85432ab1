import type { TopicSlug } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import type { MalformedReason, TopicReading } from './envelope.ts';
import type { FailureCode } from './exchange.ts';
import type { Rate } from './rate-headers.ts';

/** What every verdict tells. */
interface Judged {
  /** Credits that this exchange cost; `unknown` when only the provider's bill can tell. */
  readonly charged: number | 'unknown';
  /** Where what the service states about the cost or itself departs from the contract. */
  readonly discrepancy: string | null;
  /** One line for the user. */
  readonly message: string;
  readonly requestId: string | null;
  readonly rate: Rate;
}

/** The call was answered; each topic may still have failed on its own. `Result` is what was made of each topic's result. */
export interface Answered<Result = unknown> extends Judged {
  readonly kind: 'answered';
  readonly charged: number;
  /** When the service answered, milliseconds since the epoch; `null` where it gave no valid time. */
  readonly timestamp: number | null;
  readonly results: ReadonlyMap<TopicSlug, TopicReading<Result>>;
  /** Slugs in the bundle that the contract does not name. */
  readonly unknownTopics: readonly string[];
  /** The place that the service resolved, and what tells this answer from others where it has no request id. */
  readonly resolved: Location;
  readonly fingerprint: string | null;
  /** The service says that it answers from made-up data. */
  readonly sample: boolean;
}

/** Status 2xx, probably paid, and of no use. */
export interface Malformed extends Judged {
  readonly kind: 'malformed';
  readonly reason: MalformedReason;
}

/** The service rejects this location, by a code that says so: a fact about it, final, free. */
export interface Rejected extends Judged {
  readonly kind: 'rejected';
  readonly charged: 0;
  readonly status: number;
}

/** The service has nothing on this location, and says that this lasts: a fact, and free. */
export interface NoData extends Judged {
  readonly kind: 'no_data';
  readonly charged: 0;
  readonly status: number;
  readonly sample: boolean;
}

/** `unauthenticated`: the key is refused. `forbidden`: it lacks the scope. `denied`: a bill, a proxy or a law is in the way.
 * `rate`: too fast. `quota`: nothing is left until the anniversary. `upstream`: the service failed. `redirected`: the address
 * in the job is wrong. `unexplained`: this request was refused, and not for anything that is known of its location. */
export interface Refused extends Judged {
  readonly kind:
    | 'unauthenticated'
    | 'forbidden'
    | 'denied'
    | 'rate'
    | 'quota'
    | 'upstream'
    | 'redirected'
    | 'unexplained';
  readonly charged: 0;
  readonly status: number;
  /** The body is a page for a browser: probably a firewall or a proxy said it, not the service. */
  readonly isPage: boolean;
}

/** No answer arrived. */
export interface Transport extends Judged {
  readonly kind: 'transport';
  readonly charged: 0 | 'unknown';
  readonly code: FailureCode | 'REQUEST_TIMEOUT';
}

/** What one exchange means, and what it cost. */
export type Verdict<Result = unknown> = Answered<Result> | NoData | Malformed | Rejected | Refused | Transport;
