import { stat } from 'node:fs/promises';
import { type Connection, priced } from '../../job/prepare.ts';
import { layoutOf } from '../../job/scan/layout.ts';
import { type Scan, scan } from '../../job/scan/scan-input.ts';
import type { Job } from '../../job/settings/settings.ts';
import type { PlanSummary } from '../../job/summary.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { RowFile } from '../../rows/port.ts';
import type { Store } from '../../store/port.ts';

/** What a job would cost, and when its account's period ends. */
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
 * Prices the choices of the page. A scan depends on the file and its location columns only; the last one is kept, so that
 * another choice of topics is priced without reading a large file again. A run scans for itself.
 */
export class Pricing {
  readonly #store: Store;
  readonly #now: () => number;
  #kept: Scanned | null = null;
  /** One after the other: the kept scan has one owner. */
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

  close(): void {
    this.#kept?.scan.places.close();
    this.#kept = null;
  }

  async #price(job: Job, connection: Connection): Promise<Priced> {
    const scanned = await this.#scanned(job);
    // The columns that the topics add may clash with the input's own; the scan was of other topics perhaps.
    layoutOf(scanned.rowFile, job);
    const prepared = await priced(
      { job, connection, rowFile: scanned.rowFile },
      scanned.scan,
      this.#store,
      this.#now(),
    );
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
    this.close();
    const rowFile = await openRowFile(job.input, job.reading);
    this.#kept = { key, rowFile, scan: await scan(rowFile, job) };
    return this.#kept;
  }
}

/** A file that was written again is another one. */
async function changeOf(file: string): Promise<readonly number[]> {
  const { size, mtimeMs, ino } = await stat(file);
  return [size, mtimeMs, ino];
}
