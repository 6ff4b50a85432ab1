import type { TopicSlug } from '../../contract/topics.ts';
import type { Rejection } from '../../data/loaders/loader.ts';
import type { LoadedDataset } from '../../data/tables/describe-data.ts';
import type { DatasetName } from '../../data/tables/records.ts';
import type { ErrorReport } from '../options/exit-codes.ts';

/* What the commands of `data` print with `--json`. */

/** Where places get the rating of their county. */
export interface CountyRatingsJson {
  /** Tracts with an outline, those without a rating of some hazard, and those without any. */
  readonly tracts: number;
  readonly tracts_without_rating: number;
  readonly tracts_without_any_rating: number;
  /** Tracts without a rating, by hazard. */
  readonly tracts_without_hazard: Readonly<Record<string, number>>;
  /** Counties some of whose tracts have no outline. */
  readonly counties_without_all_tracts: number;
}

/** A topic, and the data that it needs. */
export interface DataTopicJson {
  readonly topic: TopicSlug;
  readonly answered: boolean;
  /** The loaded datasets that it is answered from. */
  readonly datasets: readonly DatasetName[];
  /** Those that it lacks. */
  readonly missing: readonly DatasetName[];
  /** Its description was changed after its data was loaded; left out where it was not. */
  readonly outdated?: true;
  /** The command that gets what is missing; left out where nothing is. */
  readonly get?: string | undefined;
}

/** A source of public data. */
export interface DataSourceJson {
  readonly source: string;
  readonly title: string;
  readonly topics: readonly TopicSlug[];
  /** The size of its download; null where it is not known. */
  readonly bytes: number | null;
  /** How often its publisher issues it, in words. */
  readonly cadence: string;
  readonly note?: string | undefined;
  /** A new publication is overdue. */
  readonly due: boolean;
  /** Null where it was not downloaded. Times in milliseconds since the epoch. */
  readonly downloaded: {
    /** Two letters each; `US` for the whole. */
    readonly states: readonly string[];
    readonly bytes: number;
    readonly fetchedAt: number;
    /** When its publisher was last asked for a newer one. */
    readonly checkedAt: number;
  } | null;
}

/** What `data --json` prints. */
export interface DataJson {
  /** The path of the data file, which may not be there. */
  readonly database: string;
  /** Some of it is made up: then no answer counts as real. */
  readonly sample: boolean;
  readonly datasets: readonly LoadedDataset[];
  /** Left out where no place gets the rating of its county. */
  readonly county_ratings?: CountyRatingsJson | undefined;
  readonly topics: readonly DataTopicJson[];
  readonly sources: readonly DataSourceJson[];
}

/** An error of one source. */
export type SourceErrorJson = Pick<ErrorReport, 'code' | 'message' | 'hint'>;

/** What `data get --json` and `data update --json` print. */
export interface DataGetJson {
  readonly sources: readonly {
    readonly source: string;
    /** The states that were asked for, two letters each. */
    readonly states: readonly string[];
    readonly new_files: number;
    /** How many records were loaded, and their vintage; left out where nothing was. */
    readonly records?: number | undefined;
    readonly vintage?: string | undefined;
    /** The rows that were not used, by reason. */
    readonly rejected?: readonly Rejection[] | undefined;
    /** Left out where there is none. */
    readonly error?: SourceErrorJson;
  }[];
}

/** What `data check --json` prints. */
export interface DataCheckJson {
  readonly sources: readonly {
    readonly source: string;
    readonly ok: boolean;
    /** Missing columns, far fewer rows than expected, or old data; left out where there is nothing. */
    readonly warning?: string | undefined;
    /** What each of its addresses said. Left out is what it did not tell. */
    readonly answers: readonly {
      readonly url: string;
      readonly rows?: number | undefined;
      /** The date of its newest data. */
      readonly newest?: string | undefined;
      /** Longitudes and latitudes of the first rows, in degrees: west, south, east, north; null where they have none. */
      readonly box?: readonly [number, number, number, number] | null | undefined;
      /** When it changed, ISO 8601 UTC. */
      readonly changed?: string | undefined;
    }[];
    /** The second addresses that do not answer as they should, each with the reason; left out where all do. */
    readonly away?: readonly string[] | undefined;
    /** Its columns and states were not looked at. */
    readonly first_bytes_only: boolean;
    /** Left out where there is none. */
    readonly error?: SourceErrorJson | undefined;
  }[];
}

/** What `data remove --json` prints. */
export interface DataRemoveJson {
  readonly removed: readonly {
    /** The name that was given. */
    readonly source: string;
    /** The datasets that lost records; null where nothing of it was here. */
    readonly datasets: readonly string[] | null;
  }[];
}
