import type { Cadence, TopicSlug } from '../../contract/topics.ts';
import type { ChargedPriceSummary } from '../../run/summary-shapes.ts';
import type { StatementBy } from '../../store/ledger/port.ts';
import type { RunState } from '../../store/runs/port.ts';

/* What `status`, `quota`, `cache`, `store` and `topics` print with `--json`. Times are ISO 8601 in UTC. */

/** Calls by what they cost. */
export interface CallsJson {
  /** Calls that were charged. */
  readonly charged: number;
  /** Calls that were refused, or answered without data: they cost nothing. */
  readonly free: number;
  /** Calls without an outcome: they may have been charged. */
  readonly unknown: number;
  /** Calls whose answer is awaited. */
  readonly in_flight: number;
}

/** Credits by what is known of them. */
export interface CreditsJson {
  /** Credits that were charged. */
  readonly charged: number;
  /** Credits of calls without an outcome, counted as spent. */
  readonly unknown: number;
  /** Credits of calls whose answer is awaited. */
  readonly in_flight: number;
}

/** A run, as `status --json` prints it in a list, newest first. */
export interface StatusRunJson {
  /** Its number in the ledger. */
  readonly run: number;
  /** The name of its job. */
  readonly job: string;
  /** The path of the input; `-` for standard input. */
  readonly input: string;
  /** The path of the output; `-` for standard output. */
  readonly output: string;
  /** The account that was charged; empty for local data, which has none. */
  readonly account: string;
  /** `cut off`: its process died before it ended. */
  readonly state: RunState;
  /** ISO 8601 in UTC, as are all times. */
  readonly started_at: string;
  /** Null while it runs, and where it was cut off. */
  readonly finished_at: string | null;
  /** When to run again; null where no time is known. */
  readonly resume_after: string | null;
  /** The price of its plan, in credits. */
  readonly planned_credits: number;
  /** The most credits that it may spend; null where nobody charges. */
  readonly budget: number | null;
  /** Whether the credits are those that a paid service would charge: nobody charges those of sample data. */
  readonly credits_made_up: boolean;
  /** Credits that were charged. */
  readonly charged: number;
  /** Credits of calls without an outcome, counted as spent. */
  readonly unknown: number;
  /** Credits of calls whose answer is awaited. */
  readonly in_flight: number;
  /** Calls by what they cost. */
  readonly calls: CallsJson;
  /** What `run --json` printed, by the version that ran; null where the run did not get so far. */
  readonly summary: unknown;
}

/** The billing period of an account, by the ledger. */
export interface QuotaJson {
  /** The name of the account. */
  readonly account: string;
  /** The name of the subscription; null where no job and no option names one. */
  readonly subscription: string | null;
  /** Whether the subscription is a default that nobody named. */
  readonly subscription_assumed: boolean;
  /** The start of the billing period, ISO 8601 in UTC. */
  readonly period_start: string;
  /** The end of the period, which is the beginning of the next. */
  readonly resets_on: string;
  /** The credits of a period; null without a subscription. */
  readonly allowance: number | null;
  /** Credits that were charged. */
  readonly charged: number;
  /** Credits of calls without an outcome, counted as spent. */
  readonly unknown: number;
  /** Credits of calls whose answer is awaited. */
  readonly in_flight: number;
  /** Calls of the period that ended without a charge. */
  readonly free_calls: number;
  /** Credits counted in later periods, because a clock was ahead or the anniversary day was another; absent where there are none. */
  readonly counted_later?: number;
  /** What `quota set` recorded; null without one. */
  readonly correction: {
    /** How many more credits the provider had counted than the ledger. */
    readonly spent_elsewhere: number;
    /** When that was recorded, ISO 8601 in UTC. */
    readonly at: string;
  } | null;
  /** Credits of the period that are not touched. */
  readonly reserved: number;
  /** Credits that may still be spent; null without a subscription. */
  readonly left: number | null;
  /** Credits beyond the allowance; null without a subscription. */
  readonly overage: number | null;
  /** When the service called the quota used up; null where it did not. */
  readonly exhausted_at: string | null;
  /** Credits that the ledger had left then; null where the service did not say so. */
  readonly exhausted_left: number | null;
}

/** One line of a statement, under the name of what it is by. */
export interface StatementLineJson
  extends Readonly<Partial<Record<StatementBy, string | number>>>,
    ChargesJson {
  /** The number of the run; absent for lines by something else. */
  readonly run?: string | number;
  /** The name of the job, also beside a run; absent for lines by something else. */
  readonly job?: string;
  /** The fingerprint of the key; absent for lines by something else. */
  readonly key?: string;
  /** The day in UTC, as `2026-03-15`; absent for lines by something else. */
  readonly day?: string;
  /** The kind of call: `single`, `standard` or `enterprise`; absent for lines by something else. */
  readonly kind?: string;
}

/** An account with its billing period, and with `--by` its statement. */
interface QuotaOfAccountJson extends QuotaJson {
  /** What the lines are by; absent without `--by`. */
  readonly by?: StatementBy;
  /** The lines; absent without `--by`. */
  readonly statement?: readonly StatementLineJson[];
}

/** A price that a service charged. */
export interface ServicePriceJson extends ChargedPriceSummary {
  /** The address of the service. */
  readonly service: string;
}

/** What `quota --json` prints: the period of the one account, or of all accounts of the store. */
export type QuotaCommandJson = {
  /** The prices that services charged last. */
  readonly prices: readonly ServicePriceJson[];
} & (
  | QuotaOfAccountJson
  | {
      /** The accounts, where the store has several. */
      readonly accounts: readonly QuotaOfAccountJson[];
    }
);

/** Calls and credits of some sources. */
export interface ChargesJson {
  /** Calls by what they cost. */
  readonly calls: CallsJson;
  /** Credits by what is known of them. */
  readonly credits: CreditsJson;
}

/** What `cache stats --json` prints. Its own calls and credits are those of paid sources. */
export interface CacheStatsJson extends ChargesJson {
  /** One for each service, and for each kind of local data. */
  readonly sources: readonly {
    /** The service's address, or the name of the data. */
    readonly source: string;
    /** Distinct places. */
    readonly cells: number;
    /** Answers about them. */
    readonly answers: number;
    /** When the oldest answer was given, ISO 8601 in UTC; null without an answer. */
    readonly oldest: string | null;
  }[];
  /** Calls and credits of made-up data, which nobody charges. */
  readonly sample: ChargesJson;
  /** The size of the store. */
  readonly bytes: number;
}

/** What `cache prune --json` prints: how many were deleted; left out what was not asked for. */
export interface CachePruneJson {
  /** Places with damaged answers (`--damaged`). */
  readonly damaged_forgotten?: number;
  /** Answers that were too old (`--older-than`). */
  readonly forgotten?: number;
  /** Runs that were too old (`--older-than`). */
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
  /** Its name in commands and columns. */
  readonly slug: TopicSlug;
  /** Its title. */
  readonly title: string;
  /** `natural`, `proximity` or `measurement`. */
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

/** What `store init --json` prints. */
export interface StoreReadyJson {
  /** The file, or the address without its parameters. */
  readonly store: string;
  /** Always true: else there is an error. */
  readonly ready: true;
}
