import { isDataReplaced } from '../../data/tables/data-database.ts';
import { enterPhase } from './progress.ts';
import type { RunContext } from './run-context.ts';

/** How often work begins again with new data. A load takes longer than what work reads before it holds its data. */
const MOST_BEGINNINGS = 3;

/** Makes the context again, with the data that is on this machine now. @throws LOCAL_DATA */
export type RenewContext = () => Promise<RunContext>;

/** Does work on the data of this machine; where the data was replaced meanwhile, again with the new data, and says so.
 * @param work buys nothing before it has read the data
 * @throws LOCAL_DATA where the data is replaced again and again */
export async function withPresentData<T>(
  context: RunContext,
  renew: RenewContext,
  work: (current: RunContext) => Promise<T>,
): Promise<T> {
  let current = context;
  for (let beginning = 1; ; beginning++) {
    try {
      return await work(current);
    } catch (error) {
      if (beginning === MOST_BEGINNINGS || !isDataReplaced(error)) throw error;
      context.effects.notice(`${error.message}: it begins again with the new data.`);
      current = await renew();
      enterPhase(current.progress, 'reading', { cells: 0, cellsDone: 0 });
    }
  }
}
