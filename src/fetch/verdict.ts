import type { TopicSlug } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import type { MalformedReason, TopicReading } from './envelope.ts';
import type { FailureCode } from './exchange.ts';
import type { Rate } from './rate-headers.ts';

/** What every verdict has. */
interface VerdictBase {
  /** Credits that this exchange cost; `unknown` where only the provider's bill can tell. */
  readonly charged: number | 'unknown';
  /** How the service's statements about the cost or itself depart from the contract. */
  readonly discrepancy: string | null;
  /** One line for the user. */
  readonly message: string;
  readonly requestId: string | null;
  readonly rate: Rate;
}

/** The call was answered; each topic may still have failed on its own. `Result` is what is kept of a topic's result. */
export interface Answered<Result = unknown> extends VerdictBase {
  readonly kind: 'answered';
  readonly charged: number;
  /** When the service answered, milliseconds since the epoch; `null` where it gave no valid time. */
  readonly timestamp: number | null;
  readonly results: ReadonlyMap<TopicSlug, TopicReading<Result>>;
  /** Slugs in the bundle that the contract does not name. */
  readonly unknownTopics: readonly string[];
  /** The location that the service resolved, and what identifies this answer where it has no request id. */
  readonly resolved: Location;
  readonly fingerprint: string | null;
  /** The service says that it answers from made-up data. */
  readonly sample: boolean;
}

/** Status 2xx, probably charged, and unusable. */
export interface Malformed extends VerdictBase {
  readonly kind: 'malformed';
  readonly reason: MalformedReason;
}

/** The service rejects this location, with a code that says so: a fact about the location, final and free. */
export interface Rejected extends VerdictBase {
  readonly kind: 'rejected';
  readonly charged: 0;
  readonly status: number;
}

/** The service has no data on this location, and says that this is permanent: a fact, and free. */
export interface NoData extends VerdictBase {
  readonly kind: 'no_data';
  readonly charged: 0;
  readonly status: number;
  readonly sample: boolean;
}

/** `unauthenticated`: the key is refused. `forbidden`: it lacks the scope. `denied`: payment, a proxy or a law prevents it.
 * `rate`: too fast. `quota`: nothing is left until the anniversary. `upstream`: the service failed. `redirected`: the job's
 * `base_url` is wrong. `unexplained`: the request was refused for an unknown reason. */
export interface Refused extends VerdictBase {
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
  /** The body is an HTML page: probably from a firewall or a proxy, not from the service. */
  readonly isPage: boolean;
}

/** No answer arrived. */
export interface Transport extends VerdictBase {
  readonly kind: 'transport';
  readonly charged: 0 | 'unknown';
  readonly code: FailureCode | 'REQUEST_TIMEOUT';
}

/** What one exchange means, and what it cost. */
export type Verdict<Result = unknown> = Answered<Result> | NoData | Malformed | Rejected | Refused | Transport;
