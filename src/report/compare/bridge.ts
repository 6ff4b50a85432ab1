import type { LineReference } from '../../rows/port.ts';
import type { Scale } from '../figures/scales.ts';
import type { CountedSum } from '../figures/sums.ts';

/** The causes of change between then and now with their names, in the order of counting. */
export const STEPS = {
  gone: 'Gone',
  new: 'New',
  moved: 'Moved to another place',
  revalued: 'Revalued',
  rated_worse: 'Rated worse',
  rated_better: 'Rated better',
  newly_answered: 'Newly answered',
  no_longer_answered: 'No longer answered',
};
type StepName = keyof typeof STEPS;
export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** A row of one file: its value, and its class on the scale of a topic. */
export interface RowState {
  readonly value: number;
  readonly rating: number;
}

/** A row, by its line and by the text that identifies it. */
export type RowExample = LineReference & {
  /** The text that identifies the row. */
  readonly key: string;
};

const EXAMPLES = 10;

/** Whether a class counts as at risk: a severe one, such as Relatively High and Very High. */
export function isAtRisk({ severe, ordered }: Scale): (rating: number) => boolean {
  return (rating) => rating >= severe.from && rating < ordered;
}

/** The causes of one row's change: parts that add up to it. A row that moved has a rating for another place, so the change of its
 * rating counts as the move.
 * @param isCounted whether a class is counted */
export function sumSteps(
  scale: Scale,
  then: RowState | null,
  now: RowState | null,
  hasMoved: boolean,
  isCounted: (rating: number) => boolean,
): readonly (readonly [step: StepName, change: number])[] {
  const worth = (rating: number, value: number) => (isCounted(rating) ? value : 0);
  if (then === null) return now === null ? [] : [['new', worth(now.rating, now.value)]];
  if (now === null) return [['gone', -worth(then.rating, then.value)]];
  const rerated = (value: number) => worth(now.rating, value) - worth(then.rating, value);
  if (hasMoved) {
    return [
      ['moved', rerated(then.value)],
      ['revalued', worth(now.rating, now.value) - worth(now.rating, then.value)],
    ];
  }
  return [
    ['revalued', worth(then.rating, now.value) - worth(then.rating, then.value)],
    [ratingStep(scale, then.rating, now.rating), rerated(now.value)],
  ];
}

/** What an answer leaves open is as unknown as what was not answered. Classes without an order are below all others. */
function ratingStep({ known, ordered }: Scale, then: number, now: number): StepName {
  if (then >= known) return 'newly_answered';
  if (now >= known) return 'no_longer_answered';
  const severity = (rating: number) => (rating < ordered ? rating : -1);
  return severity(now) > severity(then) ? 'rated_worse' : 'rated_better';
}

/** A sum then and now: `before` plus the changes equals `now`. */
export interface Bridge {
  /** The sum in the earlier output. */
  readonly before: CountedSum;
  /** The causes of the change that have at least one row. */
  readonly steps: readonly (Readonly<StepSum> & {
    /** The name of the cause. */
    readonly step: StepName;
  })[];
  /** The sum in this output. */
  readonly now: CountedSum;
}

/** A step of a bridge: its rows, and the change of the sum. */
interface StepSum {
  /** Rows that changed for this cause. */
  rows: number;
  /** The change of the sum. */
  change: {
    /** By how many rows. */
    rows: number;
    /** By how much value: in a report in its currency. */
    value: number;
  };
  /** The first rows, with their lines in the input; removed rows with their lines in the earlier output. */
  readonly examples: RowExample[];
}

/** Takes a row: what it was and is, null where it was not there. */
type AddRow = (
  then: RowState | null,
  now: RowState | null,
  hasMoved: boolean,
  example: () => RowExample,
) => void;

/** Adds up the bridge of one sum. */
interface BridgeSums {
  readonly add: AddRow;
  bridge(): Bridge;
}

/** Adds up the bridge of one sum, row by row. @param isCounted whether a class is counted */
export function makeBridgeSums(scale: Scale, isCounted: (rating: number) => boolean): BridgeSums {
  const before = { rows: 0, value: 0 };
  const after = { rows: 0, value: 0 };
  const sums = new Map<StepName, StepSum>();
  const add: AddRow = (then, now, hasMoved, example) => {
    for (const [side, state] of [
      [before, then],
      [after, now],
    ] as const) {
      if (state === null || !isCounted(state.rating)) continue;
      side.rows++;
      side.value += state.value;
    }
    // For a count of rows, each row has the value 1.
    const alone = (state: RowState | null) => state && { ...state, value: 1 };
    const byRows = sumSteps(scale, alone(then), alone(now), hasMoved, isCounted);
    for (const [index, [step, value]] of sumSteps(
      scale,
      then,
      now,
      hasMoved,
      isCounted,
    ).entries()) {
      const rows = byRows[index]![1];
      if (rows === 0 && value === 0) continue;
      const sum = sums.get(step) ?? { rows: 0, change: { rows: 0, value: 0 }, examples: [] };
      sum.rows++;
      sum.change.rows += rows;
      sum.change.value += value;
      if (sum.examples.length < EXAMPLES) sum.examples.push(example());
      sums.set(step, sum);
    }
  };
  return {
    add,
    bridge(): Bridge {
      const steps = STEP_NAMES.filter((step) => sums.has(step)).map((step) => ({
        step,
        ...sums.get(step)!,
      }));
      return { before, steps, now: after };
    },
  };
}

/** The rows that are in another class, of those that stayed at their place. */
export interface ClassChange {
  /** The name of the class in the earlier output. */
  readonly before: string;
  /** The name of the class in this output. */
  readonly now: string;
  /** The number of rows. */
  readonly rows: number;
  /** Their value today. */
  readonly value: number;
  /** The first rows, with their lines in the input. */
  readonly examples: readonly RowExample[];
}

/** Adds up the changes from class to class. */
interface ClassChangeSums {
  readonly add: AddRow;
  changes(): readonly ClassChange[];
}

/** Counts the changes from class to class, row by row. */
export function makeClassChanges({ classes }: Scale): ClassChangeSums {
  const sums = new Map<string, { rows: number; value: number; readonly examples: RowExample[] }>();
  const add: AddRow = (then, now, hasMoved, example) => {
    if (then === null || now === null || hasMoved || then.rating === now.rating) return;
    const key = `${then.rating} ${now.rating}`;
    const sum = sums.get(key) ?? { rows: 0, value: 0, examples: [] };
    sums.set(key, sum);
    sum.rows++;
    sum.value += now.value;
    if (sum.examples.length < EXAMPLES) sum.examples.push(example());
  };
  return {
    add,
    changes(): ClassChange[] {
      const changes = [...sums].map(([key, sum]) => {
        const [before, now] = key.split(' ').map((rating) => classes[Number(rating)]!.name);
        return { before: before!, now: now!, ...sum };
      });
      const textOf = ({ before, now }: ClassChange) => `${before} ${now}`;
      return changes.sort((a, b) => b.rows - a.rows || (textOf(a) < textOf(b) ? -1 : 1));
    },
  };
}
