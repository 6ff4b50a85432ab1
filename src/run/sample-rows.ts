import type { SampleMark } from '../contract/answer.ts';
import type { Store } from '../store/port.ts';
import type { Connection } from './connection-kinds.ts';

/** All answers of the embedded service are sample data. */
const ALL: SampleMark = { until: Number.POSITIVE_INFINITY, still: true };
const NONE: SampleMark = { until: Number.NEGATIVE_INFINITY, still: false };

export type SampleRows = Awaited<ReturnType<typeof openSampleRows>>;

/** Which rows are sample data. Only a service's answers tell that it serves sample data, so the mark is read again after
 * buying. Answers from before the mark then count as sample data too, because nothing proves that they are real. */
export async function openSampleRows({ sample }: Pick<Connection, 'sample'>, store: Store, source: number) {
  const readMark = async () => (sample ? ALL : ((await store.sampleMark(source)) ?? NONE));
  let mark = await readMark();
  let hasFound = false;
  return {
    async refresh(): Promise<void> {
      mark = await readMark();
    },
    /** Whether one of the rows checked so far is sample data. */
    get any(): boolean {
      return hasFound || mark.still;
    },
    /** Whether the answers of a row are sample data, by the time of the oldest. */
    has(oldest: number): boolean {
      const has = oldest <= mark.until;
      hasFound ||= has;
      return has;
    },
  };
}
