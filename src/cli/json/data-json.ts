import type { TopicSlug } from '../../contract/topics.ts';
import type { Rejection } from '../../data/loaders/loader.ts';
import type { LoadedDataset } from '../../data/tables/describe-data.ts';
import type { DatasetName } from '../../data/tables/records.ts';
import type { ErrorReport } from '../options/exit-codes.ts';

/* What the commands of `data` print with `--json`. */

/** Where places get the rating of their county. */
export interface CountyRatingsJson {
  /** Census tracts that have an outline. */
  readonly tracts: number;
  /** Of these, tracts that lack a rating of some hazard. */
  readonly tracts_without_rating: number;
  /** Of these, tracts that have no rating at all. */
  readonly tracts_without_any_rating: number;
  /** Tracts without a rating, by hazard. */
  readonly tracts_without_hazard: Readonly<Record<string, number>>;
  /** Counties some of whose tracts have no outline. */
  readonly counties_without_all_tracts: number;
}

/** A topic, and the data that it needs. */
export interface DataTopicJson {
  /** The name of the topic. */
  readonly topic: TopicSlug;
  /** Whether it can be answered. */
  readonly answered: boolean;
  /** The loaded datasets that it is answered from. */
  readonly datasets: readonly DatasetName[];
  /** The datasets that it lacks. */
  readonly missing: readonly DatasetName[];
  /** Its description was changed after its data was loaded; else absent. */
  readonly outdated?: true;
  /** The command that gets what is missing; absent where nothing is. */
  readonly get?: string | undefined;
}

/** A source of public data. */
export interface DataSourceJson {
  /** Its name in commands. */
  readonly source: string;
  /** What it is, in words. */
  readonly title: string;
  /** The topics that need it. */
  readonly topics: readonly TopicSlug[];
  /** The size of its download; null where it is not known. */
  readonly bytes: number | null;
  /** How often its publisher issues it, in words. */
  readonly cadence: string;
  /** What else to know; absent where there is nothing. */
  readonly note?: string | undefined;
  /** Whether a new publication is overdue. */
  readonly due: boolean;
  /** What is on this machine; null where it was not downloaded. */
  readonly downloaded: {
    /** The states that it was downloaded for, two letters each; `US` for the whole. */
    readonly states: readonly string[];
    /** The size of the files here. */
    readonly bytes: number;
    /** When they were downloaded, in milliseconds since 1970. */
    readonly fetchedAt: number;
    /** When its publisher was last asked for a newer one, in milliseconds since 1970. */
    readonly checkedAt: number;
  } | null;
}

/** What `data --json` prints. */
export interface DataJson {
  /** The path of the data file, which may not be there. */
  readonly database: string;
  /** Whether some of it is made up: then no answer counts as real. */
  readonly sample: boolean;
  /** What is loaded. */
  readonly datasets: readonly LoadedDataset[];
  /** Left out where no place gets the rating of its county. */
  readonly county_ratings?: CountyRatingsJson | undefined;
  /** Each topic, and the data that it needs. */
  readonly topics: readonly DataTopicJson[];
  /** Where data can be downloaded from. */
  readonly sources: readonly DataSourceJson[];
}

/** What `data get --dry-run --json` prints. */
export interface DownloadPlanJson {
  /** The states whose data is wanted, two letters each; null for all. */
  readonly states: readonly string[] | null;
  /** The size of all downloads, roughly. */
  readonly bytes: number;
  /** What would be downloaded. */
  readonly sources: readonly {
    /** Its name in commands. */
    readonly source: string;
    /** What it is, in words. */
    readonly title: string;
    /** The states of its files, two letters each; `US` for the whole. */
    readonly states: readonly string[];
    /** The size of its downloads, roughly; null for a file at your own address. */
    readonly bytes: number | null;
    /** Whether the size was measured, not estimated. */
    readonly measured: boolean;
    /** How often its publisher issues it, in words. */
    readonly cadence: string;
    /** Where it would be downloaded from. */
    readonly addresses: readonly string[];
    /** Its licence, in words. */
    readonly licence: string;
    /** What else to know; absent where there is nothing. */
    readonly note?: string | undefined;
  }[];
}

/** An error of one source. */
export type SourceErrorJson = Pick<ErrorReport, 'code' | 'message' | 'hint'>;

/** What `data get --json` and `data update --json` print. */
export interface DataGetJson {
  /** One for each source. */
  readonly sources: readonly {
    /** Its name in commands. */
    readonly source: string;
    /** The states that were asked for, two letters each. */
    readonly states: readonly string[];
    /** Files that were downloaded: the others were here already. */
    readonly new_files: number;
    /** How many records were loaded; absent where nothing was. */
    readonly records?: number | undefined;
    /** The date or the version of what was loaded; absent where nothing was. */
    readonly vintage?: string | undefined;
    /** The rows that were not used, by reason. */
    readonly rejected?: readonly Rejection[] | undefined;
    /** Why it failed; absent where it did not. */
    readonly error?: SourceErrorJson;
  }[];
}

/** What `data check --json` prints. */
export interface DataCheckJson {
  /** One for each source. */
  readonly sources: readonly {
    /** Its name in commands. */
    readonly source: string;
    /** Whether it can be downloaded and has the expected format. */
    readonly ok: boolean;
    /** Missing columns, far fewer rows than expected, or old data; absent where there is nothing. */
    readonly warning?: string | undefined;
    /** What each of its addresses said. */
    readonly answers: readonly {
      /** The address. */
      readonly url: string;
      /** How many rows it has; absent where it did not tell. */
      readonly rows?: number | undefined;
      /** The date of its newest data; absent where it did not tell. */
      readonly newest?: string | undefined;
      /** West, south, east and north of the first rows, in degrees; null where they have no location. */
      readonly box?: readonly [number, number, number, number] | null | undefined;
      /** When it changed, ISO 8601 in UTC; absent where it did not tell. */
      readonly changed?: string | undefined;
    }[];
    /** The second addresses that do not answer as they should, each with the reason; absent where all do. */
    readonly away?: readonly string[] | undefined;
    /** Whether only the first bytes were read: its columns and states were not looked at. */
    readonly first_bytes_only: boolean;
    /** Why it could not be checked; absent where it could. */
    readonly error?: SourceErrorJson | undefined;
  }[];
}

/** What `data remove --json` prints. */
export interface DataRemoveJson {
  /** One for each name. */
  readonly removed: readonly {
    /** The name that was given. */
    readonly source: string;
    /** The datasets that lost records; null where nothing of it was here. */
    readonly datasets: readonly string[] | null;
  }[];
}
