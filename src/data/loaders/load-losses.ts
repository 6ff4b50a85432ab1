import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DatasetPart, type StoredParts, WHOLE_US } from '../tables/parts.ts';
import type { DatasetName, Level } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { datesIfOlder, olderText } from './data-dates.ts';

/** Datasets that may shrink: fires end, and a monitor may miss an hour. */
const MAY_SHRINK: readonly DatasetName[] = ['records:wildfire.current', 'readings'];

/** In a file of the whole US, a state with fewer records is not compared: it may lose them by chance. */
export const FEWEST_COMPARED = 10;

type RowsByState = ReadonlyMap<string, number>;

/** Refuses a load with none, or a third fewer, of the records of a stored part: if a publisher renames a state or sends half a file, the
 * answer must not become "0 sites".
 * @param loaded the number of records of each part of the load
 * @param byState for a load of the whole US: the records in each state
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseLosses(
  dataset: DatasetName,
  { parts, rows: storedRows }: StoredParts,
  loaded: RowsByState,
  byState: RowsByState,
): void {
  if (MAY_SHRINK.includes(dataset)) return;
  const whole = loaded.get(WHOLE_US);
  if (whole !== undefined && isLoss(storedRows, whole)) {
    const problem = `it has ${counted(storedRows, 'record')}, and the load has ${grouped(whole)}`;
    refuseLoad(dataset, [{ state: WHOLE_US, problem }]);
  }
  const before = rowsByState(parts);
  const compared =
    whole === undefined
      ? [...loaded]
      : [...before.keys()].map((state) => [state, byState.get(state) ?? 0] as const);
  const fewest = whole === undefined ? 1 : FEWEST_COMPARED;
  const lost = compared.filter(([state, rows]) => {
    const here = before.get(state) ?? 0;
    return here >= fewest && isLoss(here, rows);
  });
  const problems = lost.map(([state, rows]) => ({
    state,
    problem: `${state} has ${counted(before.get(state)!, 'record')} here and ${grouped(rows)} in the load`,
  }));
  refuseLoad(dataset, problems);
}

/** Refuses a load of older data than that of the stored parts: last year's file would silently replace this year's.
 * @param isByHand a day makes a difference: at a publisher the newest record may be withdrawn
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseOlderData(
  dataset: DatasetName,
  loaded: readonly Pick<DatasetPart, 'state' | 'vintage'>[],
  stored: readonly DatasetPart[],
  isByHand: boolean,
): void {
  if (MAY_SHRINK.includes(dataset)) return;
  const partOf = (state: string) => stored.find((part) => part.state === state);
  const older = loaded.flatMap(({ state, vintage }) => {
    const replaced =
      state === WHOLE_US
        ? stored
        : [partOf(state) ?? partOf(WHOLE_US)].filter((part) => part !== undefined);
    return replaced.flatMap((part) => {
      const older = datesIfOlder(vintage, part.vintage, isByHand);
      if (older === null) return [];
      const of = state === WHOLE_US ? part.state : state;
      return [{ state, problem: olderText(of, older) }];
    });
  });
  refuseLoad(dataset, older, LOAD_NEWER);
}

export const LOAD_NEWER =
  'Load the newer file, or add --replace to load this one. The stored data is unchanged.';

/** The number of ratings by state and hazard: `NE drought`. */
export type RatingCounts = ReadonlyMap<string, number>;

/** The stored ratings of a level.
 * @param counties of these counties alone, by their five digits; null for all */
export function storedRatings(
  database: DataDatabase,
  level: Level,
  counties: ReadonlySet<string> | null,
): RatingCounts {
  const rows = database
    .prepare<{ readonly counties: string | null }, [code: string, topic: string, count: number]>(
      `SELECT substr(geoid, 1, 2), topic, count(*) FROM ratings_${level}
       WHERE @counties IS NULL OR substr(geoid, 1, 5) IN (SELECT value FROM json_each(@counties)) GROUP BY 1, 2`,
    )
    .raw()
    .all({ counties: counties && JSON.stringify([...counties]) });
  return new Map(rows.map(([code, topic, count]) => [`${stateOf(code)} ${topic}`, count]));
}

/** Refuses a risk index with none, or a third fewer, of the ratings of a hazard in a state: its places would silently get the ratings of
 * their counties.
 * @param states the states that the load replaces, or `US`
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseLostHazards(
  before: RatingCounts,
  now: RatingCounts,
  states: ReadonlySet<string>,
): void {
  const lost = [...before]
    .map(([key, here]) => ({
      state: key.slice(0, 2),
      topic: key.slice(3),
      here,
      rows: now.get(key) ?? 0,
    }))
    .filter(
      ({ state, here, rows }) => (states.has(state) || states.has(WHOLE_US)) && isLoss(here, rows),
    );
  const problems = lost.map(({ state, topic, here, rows }) => ({
    state,
    problem: `${topic} has ${counted(here, 'rating')} in ${state} here and ${grouped(rows)} in the load`,
  }));
  refuseLoad('nri', problems);
}

/** States that have at least a hundredth of the least number of records of the US, whatever is listed but events. */
const LARGER_STATES = ['CA', 'FL', 'NY', 'PA', 'TX'];

/** Refuses a load with fewer rows than the source has known to have, in the US or in one of the larger states.
 * @param load.states what the load covers: states, or `US`
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseTooFew(
  dataset: DatasetName,
  load: {
    readonly least: number;
    readonly states: readonly unknown[];
    readonly rows: number;
    readonly byState: RowsByState;
  },
): void {
  const { least, states, rows, byState } = load;
  const isWhole = states.includes(WHOLE_US);
  const few = (state: string, has: number, of: number) => ({
    state,
    problem: `the load has ${counted(has, 'row')} of ${state}, and at least ${grouped(of)} are published`,
  });
  if (isWhole && rows < least) refuseLoad(dataset, [few(WHOLE_US, rows, least)]);
  const ofState = Math.floor(least / 100);
  const compared = dataset.startsWith('records:')
    ? []
    : LARGER_STATES.filter((state) => isWhole || states.includes(state));
  const counts = compared.map((state) => [state, byState.get(state) ?? 0] as const);
  const lacking = counts
    .filter(([, has]) => has < ofState)
    .map(([state, has]) => few(state, has, ofState));
  refuseLoad(dataset, lacking);
}

/** Of lines and outlines; one in a thousand may be damaged at the publisher. */
const MOST_WITHOUT_GEOMETRY = 0.001;

/** Refuses lines and outlines of which too many have no geometry in degrees: a count near them would be too low, and a place in them
 * would be taken for one outside of the layer.
 * @throws PerilbookError SERVICE_DATA; its context names the states */
export function refuseLostShapes(
  dataset: DatasetName,
  parts: readonly { readonly of: unknown; readonly drawn: number; readonly lost: number }[],
): void {
  const lost = parts.filter(
    ({ drawn, lost }) => drawn > 0 && lost > MOST_WITHOUT_GEOMETRY * (drawn + lost),
  );
  const problems = lost.map(({ of, drawn, lost }) => ({
    state: typeof of === 'string' ? of : WHOLE_US,
    problem: `${grouped(lost)} of ${counted(drawn + lost, 'outline')} have no geometry in degrees`,
  }));
  refuseLoad(
    dataset,
    problems,
    'Get the file in degrees and without simplification, or add --replace to load the others.',
  );
}

/** Whether more than a third is lost. */
export const isLoss = (before: number, now: number): boolean => 3 * now < 2 * before;

/** The stored records of each state, from its own part or from that of the whole US. */
function rowsByState(parts: readonly DatasetPart[]): RowsByState {
  const whole = parts.find(({ state }) => state === WHOLE_US)?.stateRows ?? {};
  const own = parts.flatMap(({ state, rows }) =>
    state === WHOLE_US ? [] : [[state, rows] as const],
  );
  return new Map([...Object.entries(whole), ...own]);
}

const CHECK_FILE =
  'Check that the file is complete, and has its columns and states as before, or add --replace. Until then, their stored records stay.';

const SHOWN = 3;

/** Throws if there are problems; the message has the first ones. */
export function refuseLoad(
  dataset: DatasetName,
  problems: readonly { readonly state: string; readonly problem: string }[],
  hint = CHECK_FILE,
): void {
  if (problems.length === 0) return;
  const more = problems.length > SHOWN ? [`and ${problems.length - SHOWN} more`] : [];
  const why = [...problems.slice(0, SHOWN).map(({ problem }) => problem), ...more].join('; ');
  const states = problems.map(({ state }) => state);
  throw new PerilbookError('SERVICE_DATA', `Cannot replace dataset "${dataset}": ${why}`, hint, {
    dataset,
    states,
  });
}

/** Refuses a download of some states in place of one of more.
 * @throws PerilbookError SERVICE_DATA; its context has the states of the file as `covered` */
export function refuseLossOfStates(
  dataset: DatasetName,
  own: ReadonlySet<string>,
  stored: readonly DatasetPart[],
): void {
  const before = stored.map(({ state }) => state);
  if (before.every((state) => own.has(state))) return;
  const others = before.filter((state) => !own.has(state));
  const lost = others.includes(WHOLE_US) ? 'all other states' : listedStates(others);
  const covered = [...own];
  const message = `Cannot replace dataset "${dataset}": the file covers ${listedStates(own)}, and the rows of ${lost} would be lost`;
  throw new PerilbookError('SERVICE_DATA', message, CHECK_FILE, { dataset, covered });
}

const SHOWN_STATES = 6;

/** `CA, NV`; of more than six states, the first six and the number of the others. */
export function listedStates(states: Iterable<string>): string {
  const all = [...states].sort();
  const rest = all.length - SHOWN_STATES;
  return rest > 1 ? `${all.slice(0, SHOWN_STATES).join(', ')} and ${rest} more` : all.join(', ');
}
