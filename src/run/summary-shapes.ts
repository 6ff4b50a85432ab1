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
  /** One for each refused scope. */
  readonly refused: readonly {
    /** The scope that a key was refused: `bundle`, or a topic. */
    readonly scope: Scope;
    /** The status and the service's own words; null where they were not kept. */
    readonly reason: string | null;
    /** When it was refused, ISO 8601 in UTC. */
    readonly refused_at: string;
  }[];
}

/** A price that a service last charged. */
export interface ChargedPriceSummary {
  /** The kind of call. */
  readonly kind: CallKind;
  /** The topic of a single call; null for a bundle. */
  readonly topic: TopicSlug | null;
  /** Credits that were charged. */
  readonly credits: number;
  /** Credits by the contract. */
  readonly contract: number;
  /** When it was charged, ISO 8601 in UTC. */
  readonly charged_at: string;
  /** Whether it is expected: it holds for a day, then the contract's price is expected again. */
  readonly holds: boolean;
}

/** One way to buy. */
export interface WaySummary {
  /** Its price in credits. */
  readonly credits: number;
  /** The number of calls. */
  readonly calls: number;
  /** Bytes of the answers, roughly. */
  readonly bytes: number;
  /** US dollars that the provider bills beyond the allowance. */
  readonly overage_dollars: number;
  /** How long it takes, in minutes. */
  readonly minutes: number;
  /** Billing periods in which credits are spent; null where the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made, ISO 8601 in UTC; null for never. */
  readonly finish_by: string | null;
  /** Whether the credits of this period suffice. */
  readonly fits: boolean;
  /** Requested topics that it never returns. */
  readonly lacks: readonly TopicSlug[];
}

/** Credits saved, compared with buying the requested topics for each row. Nothing is saved where the service rejects the location. */
interface SavedSummary {
  /** Credits saved by rows at the same place. */
  readonly by_cells: number;
  /** Credits saved by answers in the store, at most: an answer without data was free. */
  readonly by_cache: number;
  /** Credits saved by answers that hold for a whole area. */
  readonly by_areas: number;
}

/** The saving by areas, in cells. */
export interface AreasSummary {
  /** Places that are bought for their whole area. */
  readonly representatives: number;
  /** Places that are bought although their area has an answer, to compare the two. */
  readonly verified: number;
  /** Places with a topic that is not bought, because their area has the answer. */
  readonly spared: number;
  /** Areas that were verified so far. */
  readonly areas_verified: number;
  /** Of these, areas whose answers differed. */
  readonly areas_differed: number;
  /** Whether too many areas differed: then each place is bought for itself. */
  readonly each_place: boolean;
  /** Places in an area by the boundaries on this machine; absent where none was looked for. */
  readonly found?: number;
  /** Places that are bought on their own, because a border is near. */
  readonly near_border?: number;
  /** Places that are bought on their own, because no area holds them. */
  readonly in_no_area?: number;
  /** Places that are bought on their own, because boundaries are missing. */
  readonly no_boundaries?: number;
}

/** A dataset that local answers come from. */
interface SourceDataset {
  /** The name of the dataset. */
  readonly name: DatasetName;
  /** The level of its areas; empty for what is not of areas. */
  readonly level: Level;
  /** Where it comes from, in words. */
  readonly source: string;
  /** The date or the version of the data, in words. */
  readonly vintage: string;
  /** The attribution that the licence requires; empty where it requires none. */
  readonly licence: string;
  /** Its states, two letters each; null for the whole US. */
  readonly states: readonly string[] | null;
  /** When it was loaded, ISO 8601 in UTC; null where that is not known. */
  readonly loaded_at: string | null;
}

/** Public data on this machine, and what it does not answer. */
export interface LocalSourceSummary {
  /** `local` for public data on this machine, `service` for a paid service, `sample` for made-up data. */
  readonly kind: 'local';
  /** The datasets that answers come from. */
  readonly datasets: readonly SourceDataset[];
  /** Topics that cannot be answered. */
  readonly topics_without_data: readonly TopicSlug[];
  /** Topics that are answered without a count: records of their events are not loaded. */
  readonly topics_without_records: readonly TopicSlug[];
  /** Places in states that lack data, by state. */
  readonly places_without_data: readonly StateWithoutData[];
  /** Places that the loaded boundaries of their state leave out. */
  readonly places_left_out: readonly PlacesLeftOut[];
  /** Places that get the rating of their county, because their tract has none here. */
  readonly places_with_county_ratings: number;
  /** The number of these places by topic, without topics that have none. */
  readonly county_ratings: Readonly<Partial<Record<TopicSlug, number>>>;
}

/** Where answers come from. */
export type SourceSummary =
  | { readonly kind: 'sample' }
  /** `address`: since 1.1. */
  | {
      readonly kind: 'service';
      /** The address of the service. */
      readonly address: string;
      /** What the public data on this machine answers beside the service, free of charge; absent where there is nothing. */
      readonly beside?: LocalSourceSummary & {
        /** The topics that it answers. */
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
  /** The part file that it is in; absent for one file. */
  readonly part?: string;
}

/** A plan: what `plan --json` prints. */
export interface PlanSummary {
  /** Rows of the input. */
  readonly rows: number;
  /** Rows that can be looked up. */
  readonly located: number;
  /** Rows without a usable location. */
  readonly invalid: number;
  /** Rows that lie outside the US. */
  readonly outside_us: number;
  /** Where the rows outside the US lie; null without such a row. */
  readonly outside_us_box: DegreeBox | null;
  /** The part files of the input; null for one file. */
  readonly parts: {
    /** How many there are. */
    readonly total: number;
  } | null;
  /** Where answers come from. */
  readonly source: SourceSummary;
  /** What `first_line` counts: a row is one of a table or sheet. */
  readonly unit: 'line' | 'row' | 'feature';
  /** The share of rows without a usable location that the job allows. */
  readonly max_invalid: number;
  /** What is wrong with rows, one for each kind. */
  readonly findings: readonly FindingSummary[];
  /** The columns that are read. */
  readonly columns: UsedColumns;
  /** Located rows that only the lenient reading could read. */
  readonly read_leniently: number;
  /** Distinct places. */
  readonly cells: number;
  /** Places that have an answer to each topic in the store. */
  readonly cells_cached: number;
  /** Places that are not asked for: the service rejected them, or no area of the local data holds them. */
  readonly cells_rejected: number;
  /** The number of calls of each kind. */
  readonly calls: Readonly<Record<CallKind, number>>;
  /** The price of all that is missing, without retries. */
  readonly credits: number;
  /** Prices of the job's calls that differ from the contract's. */
  readonly prices: readonly ChargedPriceSummary[];
  /** The part of `credits_limit` for retries, as far as budget and quota leave room. */
  readonly credits_retries_at_most: number;
  /** Credits that the account has left in this period; null where there is no quota. */
  readonly credits_available: number | null;
  /** The most credits that the run spends: its price and its retries, or the budget if that is less. */
  readonly credits_limit: number;
  /** Whether budget, quota and time suffice for all. */
  readonly fits: boolean;
  /** How long the calls take, in minutes. */
  readonly minutes: number;
  /** How long a call takes; null without calls. */
  readonly latency: {
    /** In seconds. */
    readonly seconds: number;
    /** Whether that was measured at this source, or is assumed. */
    readonly measured: boolean;
  } | null;
  /** Billing periods in which credits are spent; null where the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made, ISO 8601 in UTC; null for never. */
  readonly finish_by: string | null;
  /** Every way to buy; `planned` is the one that the job chose. */
  readonly ways: Readonly<
    Record<'standard' | 'enterprise' | 'cheapest' | 'fewest_calls' | 'planned', WaySummary>
  >;
  /** What this run buys within its budget, quota and time. */
  readonly this_run: {
    /** What that costs, in credits. */
    readonly credits: number;
    /** How many places. */
    readonly cells: number;
    /** Their share of the value; null where places are bought in the order of the file. */
    readonly share_of_value: number | null;
    /** How long that takes, in minutes. */
    readonly minutes: number;
  };
  /** What is complete after it. */
  readonly after_run: {
    /** How many places. */
    readonly cells: number;
    /** Their share of the places. */
    readonly share_of_cells: number;
    /** Their share of the value; null where places are bought in the order of the file. */
    readonly share_of_value: number | null;
  };
  /** US dollars that the provider bills beyond the allowance. */
  readonly overage_dollars: number;
  /** Credits that the plan saves. */
  readonly saved: SavedSummary;
  /** What is bought by area; null where the job does not ask for it. */
  readonly areas: AreasSummary | null;
  /** What the keys may not call, and the effect on the plan, in sentences. */
  readonly scopes: readonly string[];
  /** The cheaper way that the service refused; null where there is none. */
  readonly refused_way: RefusedWaySummary | null;
  /** Whether some answers are made up. */
  readonly sample_data: boolean;
  /** Whether the credits are those that a paid service would charge: the sample charges none. */
  readonly credits_made_up: boolean;
}

/** The result of a run: what `run --json` prints, and what on_finish gets. */
export interface RunSummary extends PlanSummary {
  /** Credits that the plan saves over all places; `saved` counts only places that have their answers. */
  readonly saved_by_plan: SavedSummary;
  /** The number of the run in the ledger. */
  readonly run: number;
  /** Credits that were charged. */
  readonly credits_spent: number;
  /** Credits of calls without an outcome, which may have been charged. */
  readonly credits_unknown: number;
  /** Planned credits that were not needed, because other runs bought the answers meanwhile. */
  readonly credits_by_others: number;
  /** Calls for which the service charged more than the plan's price. */
  readonly calls_above_price: number;
  /** How many credits more that was. */
  readonly credits_above_price: number;
  /** Rows by their status. */
  readonly status: Readonly<Record<RowStatus, number>>;
  /** Rows that are `partial` only because columns of an earlier run, which stay, have no answer there. */
  readonly partial_kept: number;
  /** The share of located rows that are complete. */
  readonly complete: {
    /** By their number. */
    readonly rows: number;
    /** By their value; null where places are bought in the order of the file. */
    readonly value: number | null;
  };
  /** The path of the output; `-` for standard output. */
  readonly output: string;
  /** Whether the earlier output stays as it was. */
  readonly output_kept: boolean;
  /** Why it stays; null where the output was written. */
  readonly output_kept_because: KeptBecause | null;
  /** What the last call that was given up failed with; null where none was. */
  readonly last_failure: string | null;
  /** Why the run stopped early; null where it did not. */
  readonly stopped: string | null;
  /** When to run again; null where no time is known. */
  readonly resume_after: string | null;
  /** One for each currency of the values, most rows first; empty without a value column. Absent for a job without losses. */
  readonly losses?: readonly LossSummary[];
}

/** Expected annual losses of the rows with values in one currency, to the cent. */
export interface LossSummary {
  /** The code of the currency; null where the file says none. */
  readonly currency: string | null;
  /** The expected annual loss of all these rows whose place has a rate. */
  readonly annual_loss: number;
  /** The value that the rates apply to, of the rows whose place has a rate. */
  readonly value: number;
  /** The same value of all of them that are located. */
  readonly all_value: number;
  /** The natural topics with a rate somewhere, the largest loss first. */
  readonly topics: readonly {
    /** The name of the topic. */
    readonly topic: TopicSlug;
    /** Its part of the loss. */
    readonly annual_loss: number;
  }[];
}
