import type { Cadence, TopicSlug } from '../../contract/topics.ts';
import type { ChargedPriceSummary } from '../../run/summary-shapes.ts';
import type { StatementBy } from '../../store/ledger/port.ts';
import type { RunState } from '../../store/runs/port.ts';

/* What `status`, `quota`, `cache` and `topics` print with `--json`. Times are ISO 8601 in UTC. */

/** Calls by what they cost. */
export interface CallsJson {
  readonly charged: number;
  /** Refused, or answered without data: they cost nothing. */
  readonly free: number;
  /** Without an outcome: they may have been charged. */
  readonly unknown: number;
  readonly in_flight: number;
}

/** Credits by what is known of them. */
export interface CreditsJson {
  readonly charged: number;
  /** Of calls without an outcome, counted as spent. */
  readonly unknown: number;
  readonly in_flight: number;
}

/** A run, as `status --json` prints it in a list, newest first. */
export interface StatusRunJson {
  /** Its number in the ledger. */
  readonly run: number;
  /** The name of its job. */
  readonly job: string;
  /** The paths; `-` for standard input and output. */
  readonly input: string;
  readonly output: string;
  /** Empty for local data, which has no account. */
  readonly account: string;
  /** `cut off`: its process died before it ended. */
  readonly state: RunState;
  readonly started_at: string;
  /** Null while it runs, and where it was cut off. */
  readonly finished_at: string | null;
  /** When to run again; null where no time is known. */
  readonly resume_after: string | null;
  /** The price of its plan, in credits. */
  readonly planned_credits: number;
  /** The most credits that it may spend; null where nobody charges. */
  readonly budget: number | null;
  /** The credits are those that a paid service would charge: nobody charges those of sample data. */
  readonly credits_made_up: boolean;
  /** As in `CreditsJson`. */
  readonly charged: number;
  readonly unknown: number;
  readonly in_flight: number;
  readonly calls: CallsJson;
  /** What `run --json` printed (`RunSummary` of the version that ran); null where it did not get so far. */
  readonly summary: unknown;
}

/** The billing period of an account, by the ledger. */
export interface QuotaJson {
  readonly account: string;
  /** The name of the subscription; null where no job and no option names one. */
  readonly subscription: string | null;
  /** The subscription is a default that nobody named. */
  readonly subscription_assumed: boolean;
  readonly period_start: string;
  /** The end of the period, which is the beginning of the next. */
  readonly resets_on: string;
  /** The credits of a period; null without a subscription. */
  readonly allowance: number | null;
  /** Credits, as in `CreditsJson`. */
  readonly charged: number;
  readonly unknown: number;
  readonly in_flight: number;
  /** Calls of the period that ended without a charge. */
  readonly free_calls: number;
  /** Credits counted in later periods: a clock was ahead, or the anniversary day was another; left out where there are none. */
  readonly counted_later?: number;
  /** What `quota set` recorded: how many more credits the provider had counted, and when; null without one. */
  readonly correction: { readonly spent_elsewhere: number; readonly at: string } | null;
  /** Credits of the period that are not touched. */
  readonly reserved: number;
  /** Credits that may still be spent; null without a subscription. */
  readonly left: number | null;
  /** Credits beyond the allowance; null without a subscription. */
  readonly overage: number | null;
  /** When the service called the quota used up, and the credits that the ledger had left then; null where it did not. */
  readonly exhausted_at: string | null;
  readonly exhausted_left: number | null;
}

/** One line of a statement, under the name of what it is by: `run` (with `job`), `job`, `key`, `day` or `kind`. */
export type StatementLineJson = Readonly<Partial<Record<StatementBy, string | number>>> & {
  readonly calls: CallsJson;
  readonly credits: CreditsJson;
};

/** What `quota --by` adds. */
interface StatementJson {
  readonly by: StatementBy;
  readonly statement: readonly StatementLineJson[];
}

/** A price that a service charged. */
export interface ServicePriceJson extends ChargedPriceSummary {
  /** Its address. */
  readonly service: string;
}

/** What `quota --json` prints: the period of the one account, or of all accounts of the store. */
export type QuotaCommandJson = { readonly prices: readonly ServicePriceJson[] } & (
  | (QuotaJson & Partial<StatementJson>)
  | { readonly accounts: readonly (QuotaJson & Partial<StatementJson>)[] }
);

/** Calls and credits of some sources. */
export interface ChargesJson {
  readonly calls: CallsJson;
  readonly credits: CreditsJson;
}

/** What `cache stats --json` prints. Its own calls and credits are those of paid sources. */
export interface CacheStatsJson extends ChargesJson {
  readonly sources: readonly {
    /** The service's address, or the name of the data. */
    readonly source: string;
    /** Distinct places. */
    readonly cells: number;
    readonly answers: number;
    /** When its oldest answer was given; null without an answer. */
    readonly oldest: string | null;
  }[];
  /** Those of made-up data: nobody charges them. */
  readonly sample: ChargesJson;
  /** The size of the store. */
  readonly bytes: number;
}

/** What `cache prune --json` prints: how many were deleted; left out what was not asked for. */
export interface CachePruneJson {
  /** Places with damaged answers (`--damaged`). */
  readonly damaged_forgotten?: number;
  /** Answers and runs (`--older-than`). */
  readonly forgotten?: number;
  readonly runs_forgotten?: number;
  /** By how many bytes the store's file is smaller; left out where it keeps its size. */
  readonly bytes_freed?: number;
  /** Locations that a service rejected (`--rejected`). */
  readonly rejections_forgotten?: number;
  /** Prices that services charged (`--prices`). */
  readonly prices_forgotten?: number;
}

/** A topic, as `topics --json` prints it in a list. */
export interface TopicJson {
  readonly slug: TopicSlug;
  readonly title: string;
  readonly category: string;
  /** The price of a single call. */
  readonly credits: number;
  /** How often its data changes. */
  readonly cadence: Cadence;
  /** How long an answer is fresh, in seconds; null for ever. */
  readonly fresh_seconds: number | null;
  /** The names of its columns, without a prefix. */
  readonly columns: readonly string[];
}
