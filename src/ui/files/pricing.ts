import { stat } from 'node:fs/promises';
import { type Connection, priced } from '../../job/prepare.ts';
import { layoutOf } from '../../job/scan/layout.ts';
import { type Scan, scan } from '../../job/scan/scan-input.ts';
import type { Job } from '../../job/settings/settings.ts';
import type { PlanSummary } from '../../job/summary.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { RowFile } from '../../rows/port.ts';
import type { Store } from '../../store/port.ts';

/** The price of a job, and what its accounts have left. */
export interface Priced {
  readonly summary: PlanSummary;
  readonly accounts: readonly { account: string; available: number; of: number; resets: number }[];
}

interface Scanned {
  readonly key: string;
  readonly rowFile: RowFile;
  readonly scan: Scan;
}

/**
 * Prices the page's settings. The last scan is cached: it depends only on the file and its location columns, so other topics
 * are priced without reading a large file again. A run scans again.
 */
export class Pricing implements Disposable {
  readonly #store: Store;
  readonly #now: () => number;
  #kept: Scanned | null = null;
  /** Prices one after the other: they share the cached scan. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Spends nothing. @throws INPUT_*, SCOPE_MISSING */
  price(job: Job, connection: Connection): Promise<Priced> {
    const mine = this.#turn.then(() => this.#price(job, connection));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  [Symbol.dispose](): void {
    this.#kept?.scan[Symbol.dispose]();
    this.#kept = null;
  }

  async #price(job: Job, connection: Connection): Promise<Priced> {
    const scanned = await this.#scanned(job);
    // The cached scan may be of other topics, whose columns did not clash with the input's.
    layoutOf(scanned.rowFile, job);
    const { rowFile, scan } = scanned;
    const prepared = await priced({ job, connection, rowFile, scan, store: this.#store, asOf: this.#now() });
    const accounts = prepared.plan.accounts.map(({ account, available, period }) => ({
      account: account.name,
      available,
      of: account.subscription.creditsPerMonth,
      resets: period.end,
    }));
    return { summary: prepared.summary, accounts };
  }

  async #scanned(job: Job): Promise<Scanned> {
    const key = JSON.stringify([
      job.input,
      await changeOf(job.input),
      job.location,
      job.coordinates,
      job.reading,
      job.precision,
      job.prefix,
    ]);
    if (this.#kept?.key === key) return this.#kept;
    this[Symbol.dispose]();
    const rowFile = await openRowFile(job.input, job.reading);
    this.#kept = { key, rowFile, scan: await scan(rowFile, job) };
    return this.#kept;
  }
}

/** Changes when the file is written. */
async function changeOf(file: string): Promise<readonly number[]> {
  const { size, mtimeMs, ino } = await stat(file);
  return [size, mtimeMs, ino];
}
