import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { type LookupThread, openLookup } from './lookup-task.ts';

const NO_RATES = NATURAL_SLUGS.map(() => null);

/** Looks up the loss rates of batches of cells. A place in no area has an answer without a rate: it is not looked up again.
 * @throws LOCAL_DATA if the data is not the plan's
 * @public: threads import it */
export const inThread: LookupThread = (setup) =>
  openLookup(setup, ({ lossRates }, cell) => {
    const rates = lossRates(locationOf(cell)) ?? NO_RATES;
    const fields = [rates.filter((rate) => rate !== null).length, ...rates];
    return { cell, answers: [{ topic: LOSS_RATES, asOf: setup.asOf, fields }], failures: [] };
  });
