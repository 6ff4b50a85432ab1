import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DatasetPart, type StoredParts, WHOLE_US } from '../tables/parts.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { listedStates } from './covered-counties.ts';

/** Datasets that may shrink: fires end, and a monitor may miss an hour. */
const MAY_SHRINK: readonly DatasetName[] = ['records:wildfire.current', 'readings'];

/** In a file of the whole US, a state with fewer records is not compared: it may lose them by chance. */
const FEWEST_COMPARED = 10;

type RowsByState = ReadonlyMap<string, number>;

/**
 * Refuses a load with none, or a third fewer, of the records of a stored part: if a publisher renames a state or sends half a file, the
 * answer must not become "0 sites".
 *
 * @param loaded the number of records of each part of the load
 * @param byState for a load of the whole US: the records in each state
 * @throws PerilbookError SERVICE_DATA; its context names the states
 */
export function refuseLosses(
  dataset: DatasetName,
  { parts, rows: storedRows }: StoredParts,
  loaded: RowsByState,
  byState: RowsByState,
): void {
  if (MAY_SHRINK.includes(dataset)) return;
  const whole = loaded.get(WHOLE_US);
  if (whole !== undefined && isLoss(storedRows, whole)) {
    throw refused(dataset, `it has ${counted(storedRows, 'record')}, and the load has ${grouped(whole)}`, []);
  }
  const before = rowsByState(parts);
  const compared =
    whole === undefined ? [...loaded] : [...before.keys()].map((state) => [state, byState.get(state) ?? 0] as const);
  const fewest = whole === undefined ? 1 : FEWEST_COMPARED;
  const lost = compared.filter(([state, rows]) => {
    const here = before.get(state) ?? 0;
    return here >= fewest && isLoss(here, rows);
  });
  if (lost.length === 0) return;
  const each = lost
    .slice(0, SHOWN)
    .map(
      ([state, rows]) => `${state} has ${counted(before.get(state)!, 'record')} here and ${grouped(rows)} in the load`,
    );
  const rest = lost.length > SHOWN ? [`so have ${lost.length - SHOWN} more states`] : [];
  throw refused(
    dataset,
    [...each, ...rest].join('; '),
    lost.map(([state]) => state),
  );
}

/** The number of ratings by state and hazard: `NE drought`. */
export type RatingCounts = ReadonlyMap<string, number>;

/** The stored ratings of a level. */
export function storedRatings(database: DataDatabase, level: Level): RatingCounts {
  const rows = database
    .prepare<[], [code: string, topic: string, count: number]>(
      `SELECT substr(geoid, 1, 2), topic, count(*) FROM ratings_${level} GROUP BY 1, 2`,
    )
    .raw()
    .all();
  return new Map(rows.map(([code, topic, count]) => [`${stateOf(code)} ${topic}`, count]));
}

/**
 * Refuses a risk index with none, or a third fewer, of the ratings of a hazard in a state: its places would silently get the ratings of
 * their counties.
 *
 * @param states the states that the load replaces, or `US`
 * @throws PerilbookError SERVICE_DATA; its context names the states
 */
export function refuseLostHazards(before: RatingCounts, now: RatingCounts, states: ReadonlySet<string>): void {
  const lost = [...before]
    .map(([key, here]) => ({ state: key.slice(0, 2), topic: key.slice(3), here, rows: now.get(key) ?? 0 }))
    .filter(({ state, here, rows }) => (states.has(state) || states.has(WHOLE_US)) && isLoss(here, rows));
  if (lost.length === 0) return;
  const each = lost
    .slice(0, SHOWN)
    .map(
      ({ state, topic, here, rows }) =>
        `${topic} has ${counted(here, 'rating')} in ${state} here and ${grouped(rows)} in the load`,
    );
  const rest = lost.length > SHOWN ? [`so have ${lost.length - SHOWN} more hazards and states`] : [];
  throw refused(
    'nri',
    [...each, ...rest].join('; '),
    lost.map(({ state }) => state),
  );
}

const SHOWN = 3;

const isLoss = (before: number, now: number): boolean => 3 * now < 2 * before;

/** The stored records of each state, from its own part or from that of the whole US. */
function rowsByState(parts: readonly DatasetPart[]): RowsByState {
  const whole = parts.find(({ state }) => state === WHOLE_US)?.stateRows ?? {};
  const own = parts.flatMap(({ state, rows }) => (state === WHOLE_US ? [] : [[state, rows] as const]));
  return new Map([...Object.entries(whole), ...own]);
}

function refused(dataset: DatasetName, why: string, states: readonly string[]): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace dataset "${dataset}": ${why}`,
    'Check that the file is complete, and has its columns and states as before, or add --replace. The stored data is unchanged.',
    { dataset, states },
  );
}

/** Refuses a file of some states, loaded without --states, that would replace data of others. */
export function refuseLossOfStates(
  dataset: DatasetName,
  own: ReadonlySet<string>,
  stored: readonly DatasetPart[],
): void {
  const before = stored.map(({ state }) => state);
  if (before.every((state) => own.has(state))) return;
  const others = before.filter((state) => !own.has(state));
  const lost = others.includes(WHOLE_US) ? 'all other states' : listedStates(others);
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot replace dataset "${dataset}": the file covers ${listedStates(own)}, and the rows of ${lost} would be lost`,
    `Add --states ${[...own].sort().join()} to keep the other states, or --replace to drop them.`,
    { dataset },
  );
}
