import { answerFields, columnsOf } from '../../columns/topic-columns.ts';
import { type Answer, type Field, noDataAnswer } from '../../contract/answer.ts';
import { statedText } from '../../contract/stated-data.ts';
import type { CountedResult, ZoneValue } from '../../contract/topic-values.ts';
import { isZoneTopic, NATURAL_SLUGS, PAID_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { AreaResults, LookupResult, PlaceResult } from '../../data/lookup/place-lookup.ts';
import { loadCommandOf, outdatedText } from '../../data/sources/layer-sources.ts';
import { manualLoader } from '../../data/sources/source-table.ts';
import type { WithoutArea } from '../../data/tables/boundary-check.ts';
import type { MissingResult } from '../../data/topics/topic-rules.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { CellAnswers } from '../../store/answers/port.ts';

/** Values that are the same for all places of a run. */
export interface LookupTerms {
  readonly asOf: number;
  /** The time of the run, for failures and for the age of readings. */
  readonly now: number;
}

type CellFailure = CellAnswers['failures'][number];

/** Makes the function that converts the results of a place's look-up into the answers and failures of its cell. Those of a whole area are
 * made once. */
export function placeAnswers(
  terms: LookupTerms,
): (cell: Cell, topics: readonly TopicSlug[], result: PlaceResult) => CellAnswers {
  const ofAreas = new WeakMap<AreaResults, AnswersInArea>();

  function answersOfArea(topics: readonly TopicSlug[], results: AreaResults): AnswersInArea {
    const cached = ofAreas.get(results);
    if (cached !== undefined) return cached;
    const made = { shared: [] as Answer[], missing: [] as Missing[] };
    for (const [index, result] of results.entries())
      if (result !== null) addResult(topics[index]!, result, terms, made.shared, made.missing);
    // As copies: V8 puts all objects of a line of code into the memory of old ones at once if most of the first ones stay. Those of places
    // then filled 100 MB a thread.
    const shared = made.shared.map((answer) => ({ ...answer, fields: [...answer.fields] }));
    const area = { shared, missing: made.missing, failures: failuresOf(made.missing, terms) };
    ofAreas.set(results, area);
    return area;
  }

  return (cell, topics, found) => {
    if (found.kind !== 'covered')
      return { cell, answers: [], failures: notCovered(topics, found, terms) };
    const { results, ofArea } = found;
    const area = ofArea === null ? NO_AREA : answersOfArea(topics, ofArea);
    const answers: Answer[] = [];
    const missing: Missing[] = [];
    for (let index = 0; index < topics.length; index++)
      if (ofArea === null || ofArea[index] === null)
        addResult(topics[index]!, results[index]!, terms, answers, missing);
    const { shared } = area;
    if (missing.length === 0) return { cell, answers, shared, failures: area.failures };
    const all = [...area.missing, ...missing].sort(
      (a, b) => topics.indexOf(a.topic) - topics.indexOf(b.topic),
    );
    return { cell, answers, shared, failures: failuresOf(all, terms) };
  };
}

/** What the results of an area give to each of its places. */
interface AnswersInArea {
  readonly shared: readonly Answer[];
  readonly missing: readonly Missing[];
  /** Of the missing topics, where a place lacks no others. */
  readonly failures: readonly CellFailure[];
}

const NO_AREA: AnswersInArea = { shared: [], missing: [], failures: [] };

interface Missing {
  readonly topic: TopicSlug;
  readonly note: Lack;
}

function addResult(
  topic: TopicSlug,
  result: LookupResult,
  { asOf }: LookupTerms,
  answers: Answer[],
  missing: Missing[],
): void {
  if (!('reason' in result))
    answers.push({
      topic,
      asOf,
      fields: wholeFields(topic, result),
      stated: remarksOf(topic, result),
    });
  else if (result.reason === 'no_data')
    answers.push(noDataAnswer(topic, asOf, columnsOf(topic).length));
  else missing.push({ topic, note: describeLack(topic, result) });
}

/** Topics that lack the same have one note. */
function failuresOf(missing: readonly Missing[], terms: LookupTerms): CellFailure[] {
  const groups = Map.groupBy(missing, ({ note }) => Object.values(note).join(' '));
  return [...groups.values()].flatMap((group) => {
    const some = group.map(({ topic }) => topic);
    return listFailures(some, 'unavailable', formatNote(group[0]!.note, some), terms);
  });
}

/** What a topic lacks, as far as its note depends on it. */
interface Lack {
  /** The command that loads a layer of a user's own; null for another topic. */
  readonly layer: string | null;
  readonly cause: Extract<MissingResult, { cause: string }>['cause'];
  readonly states: string;
  /** The loader of a file that is not published for these states. */
  readonly loader: string | null;
}

/** States that can be downloaded come first. */
function describeLack(
  topic: TopicSlug,
  { cause, states }: Extract<MissingResult, { cause: string }>,
): Lack {
  const layer = loadCommandOf(topic);
  // What is said of a layer, its name says already.
  if (layer !== null) return { layer, cause, states: states.join(), loader: null };
  const published = states.filter((state) => manualLoader(topic, state) === null);
  const loader = published.length > 0 ? null : manualLoader(topic, states[0]!);
  return { layer, cause, states: (published.length > 0 ? published : states).join(), loader };
}

/** What is missing, and the command that gets it. */
function formatNote({ layer, cause, states, loader }: Lack, topics: readonly TopicSlug[]): string {
  if (cause === 'no_areas' || cause === 'incomplete_areas') return boundaryNote(cause, states);
  if (cause === 'outdated') return outdatedText(topics[0]!);
  if (cause === 'too_old') return 'local readings are too old (perilbook data update)';
  if (cause === 'no_tracts')
    return `no tract boundaries of ${states} (perilbook data get areas --states ${states})`;
  if (layer !== null) return `no local data of ${states} (${layer})`;
  if (loader !== null) {
    return `no local data of ${states}, and none to download (perilbook data load ${loader} FILE --states ${states})`;
  }
  const [of, option] = states === '' ? ['', ''] : [` of ${states}`, ` --states ${states}`];
  const what = cause === 'incomplete' ? 'incomplete' : 'no';
  return `${what} local data${of} (perilbook data get ${topicsText(topics)}${option})`;
}

/** What is to be known of an answer's figures, as a service states it. */
function remarksOf(topic: TopicSlug, { value }: CountedResult): string | undefined {
  const remarks = isZoneTopic(topic) ? (value as ZoneValue).remarks : undefined;
  if (remarks === undefined) return undefined;
  return statedText({ vintages: [], remarks: remarks.map((remark) => `${topic}: ${remark}`) });
}

/** The store reads only answers with all fields. Fields that were not counted are empty; the name of their source says so. */
function wholeFields(topic: TopicSlug, result: CountedResult): Field[] {
  const fields = answerFields(topic, result);
  while (fields.length < columnsOf(topic).length) fields.push(null);
  return fields;
}

function notCovered(
  topics: readonly TopicSlug[],
  reason: WithoutArea,
  terms: LookupTerms,
): CellFailure[] {
  if (reason.kind === 'outside_coverage') {
    return listFailures(topics, 'rejected', 'no area of the local data holds this location', terms);
  }
  return listFailures(topics, 'unavailable', boundaryNote(reason.kind, reason.state), terms);
}

function boundaryNote(kind: 'no_areas' | 'incomplete_areas', state: string): string {
  const lack =
    kind === 'no_areas'
      ? `no boundaries of ${state}`
      : `the loaded boundaries leave out this part of ${state}`;
  return `${lack} (perilbook data get areas --states ${state})`;
}

function listFailures(
  topics: readonly TopicSlug[],
  reason: 'unavailable' | 'rejected',
  note: string,
  { now }: LookupTerms,
): CellFailure[] {
  return topics.map((topic) => ({ topic, reason, note, at: now }));
}

/** Topics as arguments of `data get`: `all` for the 37, `natural` for the natural ones; else their names, so that no more is downloaded. */
export function topicsText(topics: readonly TopicSlug[]): string {
  const groups = [
    ['all', PAID_SLUGS],
    ['natural', NATURAL_SLUGS],
  ] as const;
  const [name, slugs] = groups.find(([, group]) =>
    group.every((slug) => topics.includes(slug)),
  ) ?? [null, []];
  const others = topics.filter((topic) => !(slugs as readonly TopicSlug[]).includes(topic));
  return [...(name === null ? [] : [name]), ...others].join(' ');
}
