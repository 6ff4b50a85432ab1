import type { RowStatus } from '../columns/row-status.ts';
import type { CallKind, Scope } from '../contract/credits.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { DatasetName, Level } from '../data/tables/records.ts';
import type { PlacesLeftOut, StateWithoutData } from './frame/local-data.ts';
import type { KeptBecause } from './output-decision.ts';
import type { UsedColumns } from './scan/layout.ts';
import type { DegreeBox } from './scan/scan-pieces.ts';
import type { Finding } from './scan/scan-tally.ts';

/* What a plan and a run tell: `--json`, the store's record of a run, on_finish, the library. The names are stable. A *cell* is a place: a
 * location rounded to the job's precision. Times are ISO 8601 in UTC; shares are from 0 to 1; saved amounts are credits. */

/** The cheaper way to buy that a plan is kept from, because the service refused its scopes within a day. */
export interface RefusedWaySummary {
  /** What it would cost, in credits. */
  readonly credits: number;
  readonly refused: readonly {
    /** The scope that a key was refused: `bundle`, or a topic. */
    readonly scope: Scope;
    /** The status and the service's own words; null where they were not kept. */
    readonly reason: string | null;
    /** ISO 8601, in UTC. */
    readonly refused_at: string;
  }[];
}

/** A price that a service last charged. */
export interface ChargedPriceSummary {
  readonly kind: CallKind;
  /** The topic of a single call; null for a bundle. */
  readonly topic: TopicSlug | null;
  /** Credits that were charged. */
  readonly credits: number;
  /** Credits by the contract. */
  readonly contract: number;
  readonly charged_at: string;
  /** Whether it is expected. It holds for a day; then the contract's price is expected, and one call shows it anew. */
  readonly holds: boolean;
}

/** One way to buy. */
export interface WaySummary {
  readonly credits: number;
  readonly calls: number;
  /** Bytes of the answers, roughly. */
  readonly bytes: number;
  /** Dollars that the provider bills beyond the allowance. */
  readonly overage_dollars: number;
  readonly minutes: number;
  /** Billing periods in which credits are spent; null: the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made; null: never. */
  readonly finish_by: string | null;
  /** Whether this period's credits suffice. */
  readonly fits: boolean;
  /** Requested topics that it never returns. */
  readonly lacks: readonly TopicSlug[];
}

/** Credits saved, compared with buying the requested topics for each row. Nothing is saved where the service rejects the location. */
interface SavedSummary {
  /** By rows at the same place. */
  readonly by_cells: number;
  /** By answers in the store, at most: an answer without data was free. */
  readonly by_cache: number;
  /** By answers that hold for a whole area. */
  readonly by_areas: number;
}

/** The saving by areas, in cells. */
export interface AreasSummary {
  /** Cells that are bought for their whole area. */
  readonly representatives: number;
  /** Cells that are bought although their area has an answer, to compare the two. */
  readonly verified: number;
  /** Cells with a topic that is not bought, because their area has the answer. */
  readonly spared: number;
  /** Areas that were verified so far, and those of them whose answers differed. */
  readonly areas_verified: number;
  readonly areas_differed: number;
  /** Too many areas differed: each place is bought for itself. */
  readonly each_place: boolean;
  /** Cells in an area by the boundaries on this machine, and why the others are bought on their own; left out where none was looked for. */
  readonly found?: number;
  readonly near_border?: number;
  readonly in_no_area?: number;
  readonly no_boundaries?: number;
}

/** A dataset that local answers come from. */
interface SourceDataset {
  readonly name: DatasetName;
  /** `''` for a dataset that is not of areas. */
  readonly level: Level;
  readonly source: string;
  readonly vintage: string;
  /** The attribution that the licence requires, or ''. */
  readonly licence: string;
  /** As two letters; null for the whole US. */
  readonly states: readonly string[] | null;
  readonly loaded_at: string | null;
}

/** Public data on this machine, and what it does not answer. */
export interface LocalSourceSummary {
  readonly kind: 'local';
  readonly datasets: readonly SourceDataset[];
  readonly topics_without_data: readonly TopicSlug[];
  /** Answered without a count: records of their events are not loaded. */
  readonly topics_without_records: readonly TopicSlug[];
  readonly places_without_data: readonly StateWithoutData[];
  /** Places that the loaded boundaries of their state leave out. */
  readonly places_left_out: readonly PlacesLeftOut[];
  /** Places that get the rating of their county, because their tract has none here. */
  readonly places_with_county_ratings: number;
  /** The same by topic, without those that have none. */
  readonly county_ratings: Readonly<Partial<Record<TopicSlug, number>>>;
}

/** Where answers come from. */
export type SourceSummary =
  | { readonly kind: 'sample' }
  /** `address`: since 1.1. */
  | {
      readonly kind: 'service';
      readonly address: string;
      /** What the public data on this machine answers beside the service, free of charge; left out where there is nothing. Since 1.1. */
      readonly beside?: LocalSourceSummary & {
        readonly topics: readonly TopicSlug[];
        /** Places that lack an answer to one of these topics. */
        readonly places_to_look_up: number;
      };
    }
  | LocalSourceSummary;

/** What was found in rows of one kind. */
interface FindingSummary extends Pick<Finding, 'finding' | 'note' | 'rows'> {
  /** The first such row, counted in `unit`. */
  readonly first_line: number;
  /** The part file that it is in; left out for one file. */
  readonly part?: string;
}

/** A plan: what `plan --json` prints. */
export interface PlanSummary {
  /** Rows of the input; those that can be looked up, that have no usable location, and that lie outside the US. */
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outside_us: number;
  /** Where the rows outside the US lie; null without such a row. */
  readonly outside_us_box: DegreeBox | null;
  /** The number of part files; null for one file. */
  readonly parts: { readonly total: number } | null;
  readonly source: SourceSummary;
  /** What `first_line` counts: a row is one of a table or sheet. */
  readonly unit: 'line' | 'row' | 'feature';
  /** The share of rows without a usable location that the job allows. */
  readonly max_invalid: number;
  readonly findings: readonly FindingSummary[];
  /** The columns that are read. */
  readonly columns: UsedColumns;
  /** Located rows that only the lenient reading could read. */
  readonly read_leniently: number;
  /** Distinct places; those with an answer to each topic; those that are not asked for, because the service rejected them (local data: no
   * area holds them). */
  readonly cells: number;
  readonly cells_cached: number;
  readonly cells_rejected: number;
  readonly calls: Readonly<Record<CallKind, number>>;
  /** The price of all that is missing, without retries. */
  readonly credits: number;
  /** Prices of the job's calls that differ from the contract's. */
  readonly prices: readonly ChargedPriceSummary[];
  /** The part of `credits_limit` for retries that budget and quota leave room for. */
  readonly credits_retries_at_most: number;
  /** Credits that the account has left in this period; null for the sample, which has no quota unless the job names a subscription. */
  readonly credits_available: number | null;
  /** Most credits that the run spends, in one number: its price and the retries (of unavailable topics and, where there is a budget, of lost
   * answers), or the budget if that is less. Its claims are checked against it. */
  readonly credits_limit: number;
  /** Whether budget, quota and time suffice for all. */
  readonly fits: boolean;
  readonly minutes: number;
  /** How long a call takes, and whether that was measured at this source or is assumed; null without calls. */
  readonly latency: { readonly seconds: number; readonly measured: boolean } | null;
  /** As in `WaySummary`. */
  readonly periods: number | null;
  readonly finish_by: string | null;
  /** Every way to buy; `planned` is the one that the job chose. */
  readonly ways: Readonly<
    Record<'standard' | 'enterprise' | 'cheapest' | 'fewest_calls' | 'planned', WaySummary>
  >;
  /** What this run buys within its budget, quota and time. `share_of_value` is null in the order of the file. */
  readonly this_run: {
    readonly credits: number;
    readonly cells: number;
    readonly share_of_value: number | null;
    readonly minutes: number;
  };
  /** What is complete after it. `share_of_value` is null in the order of the file. */
  readonly after_run: {
    readonly cells: number;
    readonly share_of_cells: number;
    readonly share_of_value: number | null;
  };
  readonly overage_dollars: number;
  readonly saved: SavedSummary;
  /** Null where the job does not ask for it. */
  readonly areas: AreasSummary | null;
  /** What the keys may not call, and the effect on the plan, in sentences. */
  readonly scopes: readonly string[];
  /** The cheaper way that the service refused; null where there is none. Since 1.1. */
  readonly refused_way: RefusedWaySummary | null;
  /** Some answers are made up. */
  readonly sample_data: boolean;
  /** The credits are those that a paid service would charge: the sample charges none. */
  readonly credits_made_up: boolean;
}

/** The result of a run: what `run --json` prints, and what on_finish gets. */
export interface RunSummary extends PlanSummary {
  /** The saving of the plan over all places. Added to its credits, it gives the price of each row on its own. `saved` counts only places
   * that have their answers. */
  readonly saved_by_plan: SavedSummary;
  /** The number of the run in the ledger. */
  readonly run: number;
  /** Credits that were charged, and those of calls without an outcome, which may have been. */
  readonly credits_spent: number;
  readonly credits_unknown: number;
  /** Planned credits that were not needed, because other runs bought the answers meanwhile. */
  readonly credits_by_others: number;
  /** The calls for which the service charged more than the plan's price, and how much more in all. */
  readonly calls_above_price: number;
  readonly credits_above_price: number;
  /** Rows by their status. */
  readonly status: Readonly<Record<RowStatus, number>>;
  /** The share of located rows that are complete: by number, and by value (null in the order of the file). */
  readonly complete: { readonly rows: number; readonly value: number | null };
  /** The path of the output; `-` for standard output. */
  readonly output: string;
  /** The earlier output stays as it was. */
  readonly output_kept: boolean;
  /** Why; null where the output was written. Since 1.1. */
  readonly output_kept_because: KeptBecause | null;
  /** What the last call that was given up failed with; null where none was. */
  readonly last_failure: string | null;
  /** Why the run stopped early; null where it did not. */
  readonly stopped: string | null;
  /** When to run again; null where no time is known. */
  readonly resume_after: string | null;
  /** The expected annual losses; null without a value column, and for values in several currencies. Left out of a job without losses. Since
   * 1.1. */
  readonly losses?: LossSummary | null;
}

/** Expected annual losses, to the cent. They are in the currency of the file. */
export interface LossSummary {
  readonly annual_loss: number;
  /** The value that the rates apply to, of the rows whose place has a rate, and of all located rows. */
  readonly value: number;
  readonly all_value: number;
  /** The natural topics with a rate somewhere, the largest loss first. */
  readonly topics: readonly { readonly topic: TopicSlug; readonly annual_loss: number }[];
}
