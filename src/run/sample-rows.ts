import type { SampleMark } from '../contract/answer.ts';
import type { Store } from '../store/port.ts';
import type { Connection } from './connection-kinds.ts';

/** Everything that the embedded service says is sample data. */
const ALL: SampleMark = { until: Number.POSITIVE_INFINITY, still: true };
const NONE: SampleMark = { until: Number.NEGATIVE_INFINITY, still: false };

/**
 * Which rows are sample data. Only the answers of a service tell that it runs on it, so the mark is read again after the
 * buying. Answers from before the mark are then taken for sample data too: nothing shows that they are not.
 */
export class SampleRows {
  readonly #isEmbedded: boolean;
  readonly #store: Store;
  readonly #source: number;
  #mark = NONE;
  #found = false;

  private constructor({ sample }: Connection, store: Store, source: number) {
    this.#isEmbedded = sample;
    this.#store = store;
    this.#source = source;
  }

  static async open(connection: Connection, store: Store, source: number): Promise<SampleRows> {
    const rows = new SampleRows(connection, store, source);
    await rows.refresh();
    return rows;
  }

  async refresh(): Promise<void> {
    this.#mark = this.#isEmbedded ? ALL : ((await this.#store.sampleMark(this.#source)) ?? NONE);
  }

  /** Whether some of the output is sample data, as far as it was asked about. */
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
