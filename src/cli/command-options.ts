import type { StatementBy } from '../store/ledger/port.ts';
import { type FlagsOf, json, log, port, quiet } from './command.ts';
import { ACCOUNT_FLAGS, jobOptions, LATER_INPUT_FLAGS } from './job-options.ts';

/* The options of each command, and the types of their values. */

const CREDITS = [0, Number.MAX_SAFE_INTEGER] as const;

const csv = { csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' } } as const;

const force = {
  force: { type: 'boolean', describe: 'replace an existing file that Perilbook did not write' },
} as const;

/** The report belongs to the outputs in help. */
const OUTPUT = 'Output';

const hidden = { hidden: true } as const;

const limit = {
  limit: {
    type: 'number',
    range: [1, Number.MAX_SAFE_INTEGER],
    describe: 'look up the first N located rows only, for a trial; the others stay without answers',
  },
} as const;

export const RUN_OPTIONS = {
  ...jobOptions(),
  limit: { ...limit.limit, group: 'Money and time', ...hidden },
  yes: { alias: 'y', type: 'boolean', group: 'Money and time', describe: 'spend what the plan costs without asking' },
  report: { type: 'string', group: OUTPUT, describe: 'also write the HTML report to this file', ...hidden },
  force: { ...force.force, group: OUTPUT, ...hidden },
  json: { ...json.json, ...hidden },
  quiet: { ...quiet.quiet, ...hidden },
  log: { ...log.log, ...hidden },
  debug: { type: 'boolean', describe: 'log each request and its outcome on stderr, without keys', ...hidden },
} as const;

export const QUOTA_OPTIONS = {
  ...jobOptions(ACCOUNT_FLAGS),
  by: {
    type: 'string',
    choices: ['run', 'job', 'key', 'day'] satisfies StatementBy[],
    describe: 'add a statement by run, job, key or day',
  },
  ...json,
  ...csv,
} as const;

export const STORE_OPTIONS = { ...jobOptions(['store']), ...json } as const;

export const PLAN_OPTIONS = {
  ...jobOptions(),
  ...limit,
  ...json,
} as const;

export const LOOKUP_OPTIONS = {
  ...jobOptions(['topics', 'precision', 'budget', 'time-to-live', ...ACCOUNT_FLAGS]),
  yes: { alias: 'y', type: 'boolean', describe: 'spend what the answers cost without asking' },
  ...json,
} as const;

export const REPORT_OPTIONS = {
  ...jobOptions(),
  ...json,
  report: { type: 'string', describe: 'file to write the report to; - for stdout' },
  ...force,
  compare: {
    type: 'string',
    describe:
      'show what changed since an earlier output (a file, or a folder of part files), or since a run by number or name',
  },
} as const;

export const UI_OPTIONS = {
  ...jobOptions(LATER_INPUT_FLAGS),
  port: { ...port, describe: 'port to listen on (default: any free port)' },
  // A petabyte: numbers of bytes far above it are not exact.
  'max-upload': { type: 'number', range: [1, 1_000_000_000], describe: 'largest upload in MB (default 2000)' },
} as const;

export const STATUS_OPTIONS = { ...jobOptions(['store', 'name']), ...json, ...csv } as const;

export const QUOTA_SET_OPTIONS = {
  left: { type: 'number', range: CREDITS, describe: "credits left on the provider's page" },
  spent: { type: 'number', range: CREDITS, describe: "credits spent on the provider's page, by everyone" },
  ...QUOTA_OPTIONS,
} as const;

export const PRUNE_OPTIONS = {
  'older-than': { type: 'string', describe: 'delete answers older than this, e.g. 365d' },
  rejected: { type: 'boolean', describe: 'delete rejections, so that the locations are asked again (free)' },
  yes: { alias: 'y', type: 'boolean', describe: 'delete paid answers without asking' },
  ...STORE_OPTIONS,
} as const;

export type RunFlags = FlagsOf<typeof RUN_OPTIONS>;
export type PlanFlags = FlagsOf<typeof PLAN_OPTIONS>;
export type LookupFlags = FlagsOf<typeof LOOKUP_OPTIONS>;
export type ReportFlags = FlagsOf<typeof REPORT_OPTIONS>;
export type UiFlags = FlagsOf<typeof UI_OPTIONS>;
export type StatusFlags = FlagsOf<typeof STATUS_OPTIONS>;
export type QuotaFlags = FlagsOf<typeof QUOTA_SET_OPTIONS>;
export type StoreFlags = FlagsOf<typeof STORE_OPTIONS>;
export type PruneFlags = FlagsOf<typeof PRUNE_OPTIONS>;
