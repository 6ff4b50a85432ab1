import { STEPS } from './bridge.ts';

/** The causes of change of the expected annual loss, in the order of counting. */
export const LOSS_STEPS = {
  gone: STEPS.gone,
  new: STEPS.new,
  moved: STEPS.moved,
  revalued: STEPS.revalued,
  other_rate: 'Another rate',
  rate_known: 'Rate newly known',
  rate_unknown: 'Rate no longer known',
};
type LossStep = keyof typeof LOSS_STEPS;
const STEP_NAMES = Object.keys(LOSS_STEPS) as LossStep[];

/** The loss of a row: its rate, null where it is unknown, times its value. */
export interface LossState {
  readonly rate: number | null;
  readonly value: number;
}

/** The expected annual loss then and now: `before` plus the changes is `now`. */
export interface LossBridge {
  /** The loss in the earlier output. */
  readonly before: number;
  /** The causes of the change that have at least one row. */
  readonly steps: readonly {
    /** The name of the cause. */
    readonly step: LossStep;
    /** Rows that changed for this cause. */
    readonly rows: number;
    /** The change of the loss. */
    readonly change: number;
  }[];
  /** The loss in this output. */
  readonly now: number;
}

const lossOf = ({ rate, value }: LossState): number => (rate ?? 0) * value;

/** The causes of one row's change: parts that add up to it. A row that moved has the rate of another place, so the change of its rate counts
 * as the move. */
function lossSteps(
  then: LossState | null,
  now: LossState | null,
  hasMoved: boolean,
): readonly (readonly [step: LossStep, change: number])[] {
  if (then === null) return now === null ? [] : [['new', lossOf(now)]];
  if (now === null) return [['gone', -lossOf(then)]];
  const [before, after] = [then.rate ?? 0, now.rate ?? 0];
  if (hasMoved) {
    return [
      ['moved', (after - before) * then.value],
      ['revalued', after * (now.value - then.value)],
    ];
  }
  return [
    ['revalued', before * (now.value - then.value)],
    [rateStep(then, now), (after - before) * now.value],
  ];
}

function rateStep(then: LossState, now: LossState): LossStep {
  if (then.rate === null) return 'rate_known';
  return now.rate === null ? 'rate_unknown' : 'other_rate';
}

/** Adds up the bridge of losses. */
interface LossBridgeSums {
  add(then: LossState | null, now: LossState | null, hasMoved: boolean): void;
  /** @param inCurrency converts units of value */
  bridge(inCurrency: (units: number) => number): LossBridge;
}

/** Adds up the bridge, row by row. */
export function makeLossBridge(): LossBridgeSums {
  const sums = new Map<LossStep, { rows: number; change: number }>();
  let [before, after] = [0, 0];
  return {
    add(then: LossState | null, now: LossState | null, hasMoved: boolean): void {
      if (then !== null) before += lossOf(then);
      if (now !== null) after += lossOf(now);
      for (const [step, change] of lossSteps(then, now, hasMoved)) {
        if (change === 0) continue;
        const sum = sums.get(step) ?? { rows: 0, change: 0 };
        sums.set(step, { rows: sum.rows + 1, change: sum.change + change });
      }
    },

    bridge(inCurrency: (units: number) => number): LossBridge {
      const steps = STEP_NAMES.flatMap((step) => {
        const sum = sums.get(step);
        return sum === undefined ? [] : [{ step, rows: sum.rows, change: inCurrency(sum.change) }];
      });
      return { before: inCurrency(before), steps, now: inCurrency(after) };
    },
  };
}
