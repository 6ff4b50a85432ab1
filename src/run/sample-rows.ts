import type { SampleMark } from '../contract/answer.ts';
import type { Store } from '../store/port.ts';
import type { Connection } from './connection-kinds.ts';

/** All answers of the embedded service are sample data. */
const ALL: SampleMark = { until: Number.POSITIVE_INFINITY, still: true };
const NONE: SampleMark = { until: Number.NEGATIVE_INFINITY, still: false };

/** Which rows are sample data. Only a service's answers tell that it serves sample data, so the mark is read again after
 * buying. Answers from before the mark then count as sample data too, because nothing proves that they are real. */
export class SampleRows {
  readonly #readMark: () => Promise<SampleMark | null>;
  #mark = NONE;
  #found = false;

  private constructor(readMark: () => Promise<SampleMark | null>) {
    this.#readMark = readMark;
  }

  static async open({ sample }: Connection, store: Store, source: number): Promise<SampleRows> {
    const rows = new SampleRows(async () => (sample ? ALL : await store.sampleMark(source)));
    await rows.refresh();
    return rows;
  }

  async refresh(): Promise<void> {
    this.#mark = (await this.#readMark()) ?? NONE;
  }

  /** Whether one of the rows checked so far is sample data. */
  get any(): boolean {
    return this.#found || this.#mark.still;
  }

  /** Whether the answers of a row are sample data, by the time of the oldest. */
  readonly has = (oldest: number): boolean => {
    const has = oldest <= this.#mark.until;
    this.#found ||= has;
    return has;
  };
}
