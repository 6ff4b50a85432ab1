import type { LoadResult } from '../../data/loaders/load-files.ts';
import type { Facts } from '../../report/figures/facts.ts';
import type { PlanSummary, RunSummary } from '../../run/summary-shapes.ts';
import type { PeriodStatement } from '../../service/accounts/period-statement.ts';
import type { ServiceAccount } from '../../service/accounts/service-account.ts';
import type { KeyInfo } from '../../service/accounts/service-keys.ts';
import type { ErrorReport } from '../options/exit-codes.ts';
import type { JobCheckJson, LayerCheckJson, ServiceCheckJson } from './check-json.ts';
import type {
  DataCheckJson,
  DataGetJson,
  DataJson,
  DataRemoveJson,
  DownloadPlanJson,
} from './data-json.ts';
import type {
  CachePruneJson,
  CacheStatsJson,
  QuotaCommandJson,
  StatusRunJson,
  StoreReadyJson,
  TopicJson,
} from './ledger-json.ts';
import type { LookupJson } from './lookup-json.ts';

/** What each command prints with `--json`. The reference of these values is made from this table and the docstrings of the members. */
export interface PrintedValues {
  /** The price of a job. A run has these members too. */
  readonly plan: PlanSummary;
  /** What a run did. `on_finish`, `--log json` and the library have it too. */
  readonly run: RunSummary;
  /** The answers at one location. */
  readonly lookup: LookupJson;
  /** What the report shows. Values are in `currency`; a location is a row inside the US that can be looked up. */
  readonly report: Facts & {
    /** The path of the report. */
    readonly report: string;
  };
  /** A list of runs, newest first. */
  readonly status: readonly StatusRunJson[];
  /** The billing period of an account, or of all accounts of the store; and the prices that services charged. */
  readonly quota: QuotaCommandJson;
  /** As `quota`, after the correction. */
  readonly 'quota set': QuotaCommandJson;
  /** A list of topics. */
  readonly topics: readonly TopicJson[];
  /** The errors of a job file. */
  readonly 'job check': JobCheckJson;
  /** The errors of a layer's description, and what its files hold. */
  readonly 'layer check': LayerCheckJson;
  /** What the store holds. */
  readonly 'cache stats': CacheStatsJson;
  /** How much was deleted. */
  readonly 'cache prune': CachePruneJson;
  /** The store that is ready. */
  readonly 'store init': StoreReadyJson;
  /** The public data on this machine. */
  readonly data: DataJson;
  /** The sources that were downloaded; with `--dry-run` what would be. */
  readonly 'data get': DataGetJson | DownloadPlanJson;
  /** The sources that were looked at. */
  readonly 'data update': DataGetJson;
  /** What the publishers' servers said. */
  readonly 'data check': DataCheckJson;
  /** What a file brought; without a name, each loader's description by its name. */
  readonly 'data load': LoadResult | Readonly<Record<string, string>>;
  /** What was removed. */
  readonly 'data remove': DataRemoveJson;
  /** The contract's statements, and which of them the service keeps. */
  readonly 'service check': ServiceCheckJson;
  /** A list of accounts. Times are milliseconds since 1970. */
  readonly 'service account list': readonly (ServiceAccount & {
    /** What it owes by billing period, oldest first. */
    readonly periods: readonly PeriodStatement[];
  })[];
  /** A list of billing periods of accounts. Times are milliseconds since 1970. */
  readonly 'service account statement': readonly (PeriodStatement & {
    /** The name of the account. */
    readonly account: string;
  })[];
  /** A list of keys, without their secrets. Times are milliseconds since 1970. */
  readonly 'service key list': readonly KeyInfo[];
}

/** What each command prints that ends by an error. */
export interface PrintedError {
  readonly error: ErrorReport;
}
