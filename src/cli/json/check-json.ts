import type { CheckResult } from '../../service/check/statement-table.ts';

/* What `job check`, `layer check` and `service check` print with `--json`. */

/** A place in a job file, and what is wrong there. */
export interface JobProblemJson {
  /** The line in the file, from 1. */
  readonly line: number;
  /** The column in that line, from 1. */
  readonly column: number;
  /** What is wrong there. */
  readonly message: string;
  /** What to do; absent where the message says enough. */
  readonly hint?: string | undefined;
}

/** What `job check --json` prints. */
export interface JobCheckJson {
  /** The path as it was given. */
  readonly file: string;
  /** Whether the job can run. */
  readonly ok: boolean;
  /** What prevents the run; empty where nothing does. */
  readonly problems: readonly JobProblemJson[];
  /** What does not prevent the run. */
  readonly warnings: readonly JobProblemJson[];
}

/** What `layer check --json` prints. */
export interface LayerCheckJson {
  /** The path as it was given. */
  readonly file: string;
  /** Whether the description has no error. */
  readonly ok: boolean;
  /** The errors of the description; empty where it has none. */
  readonly problems: readonly JobProblemJson[];
  /** The columns of its topic; empty if there are problems. */
  readonly columns: readonly string[];
  /** Whether another description loaded its data, which must be loaded again; null where none is loaded, or there are problems. */
  readonly load_again: boolean | null;
  /** What a load of the files would bring; null without files. */
  readonly data: LayerDataJson | null;
}

export interface LayerDataJson {
  /** Rows or features that were read. */
  readonly rows: number;
  /** Rows that a load would use. */
  readonly loaded: number;
  /** Rows that a load would not use, by reason. */
  readonly rejected: readonly {
    /** Why they would not be used. */
    readonly reason: string;
    /** How many rows. */
    readonly count: number;
  }[];
  /** What else a load would say, in sentences. */
  readonly notes: readonly string[];
  /** The date or the version of the data, in words. */
  readonly vintage: string;
  /** The classes that the files hold. */
  readonly classes: readonly LayerClassJson[];
}

export interface LayerClassJson {
  /** The class as published. */
  readonly value: string;
  /** The class in the output; null for a value that the description does not know. */
  readonly class: string | null;
  /** `none`: looked at, no zone. `unstudied`: not studied, so nothing is known. */
  readonly means: 'zone' | 'none' | 'unstudied';
  /** The number of its polygons. */
  readonly polygons: number;
}

/** What `service check --json` prints: each statement of the contract, and how many passed, failed and were skipped. */
export interface ServiceCheckJson extends CheckResult {
  /** Credits that the check spent, by the ledger. */
  readonly creditsSpent: number;
  /** Credits of calls without an outcome, which may have been charged. */
  readonly creditsUnknown: number;
}
