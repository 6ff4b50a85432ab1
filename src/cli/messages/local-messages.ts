import { counted, grouped } from '../../base/format-numbers.ts';
import { shellWord } from '../../base/shell-words.ts';
import { NATURAL_SLUGS, type TopicSlug, topicOf } from '../../contract/topics.ts';
import { outdatedText } from '../../data/sources/layer-sources.ts';
import { manualLoader } from '../../data/sources/source-table.ts';
import { countyRatingLines } from '../../data/tables/county-ratings.ts';
import { eventDatasetsOf, needsOf } from '../../data/tables/describe-data.ts';
import { getBoundariesCommand, getCommand, lacksBoundariesOnly } from '../../host/connection.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { LocalSourceSummary as LocalSource, PlanSummary } from '../../run/summary-shapes.ts';
import { fittingTable } from './format.ts';

/** What local data answers of a run: all of it, or what is asked beside a service; null for nothing. */
function localPart({ job, summary, connection, sources: [, beside] }: Prepared) {
  const { source } = summary;
  if (source.kind === 'local') return { source, job, connection };
  if (source.kind !== 'service' || source.beside === undefined || beside === undefined) return null;
  return { source: source.beside, job: beside.job, connection: beside.connection };
}

/** The datasets that answer, each with its topics, and what they do not answer; none where nothing is asked of local data. */
export function localSourceLines(prepared: Prepared, folder: string, width: number): string[] {
  const part = localPart(prepared);
  if (part === null) return [];
  const { source, job } = part;
  const head =
    prepared.connection.kind === 'local'
      ? 'Answers come from local data:'
      : `From local data, free of charge: ${topicNames(job.topics)}`;
  return [head, ...datasetLines(source, job.topics, width), ...localNotices(prepared, folder)];
}

/** `; 12 places to look up in local data, free of charge`; '' for none. */
export function besideText({ source }: Pick<PlanSummary, 'source'>): string {
  const places = source.kind === 'service' ? (source.beside?.places_to_look_up ?? 0) : 0;
  return places === 0
    ? ''
    : `; ${counted(places, 'place')} to look up in local data, free of charge`;
}

/** What local data does not answer, or not as asked, and the commands that get it. */
export function localNotices(prepared: Prepared, folder: string): string[] {
  const part = localPart(prepared);
  if (part === null) return [];
  const { source, job, connection } = part;
  const { summary } = prepared;
  const {
    topics_without_data: lacking,
    topics_without_records: uncounted,
    places_without_data: states,
  } = source;
  const { places_left_out: leftOut } = source;
  const get = (topics: readonly TopicSlug[]) => getCommand({ ...job, topics }, folder);
  const lines: string[] = [];
  const isOutdated = (topic: TopicSlug) =>
    connection.kind === 'local' && connection.data.outdated.has(topic);
  const isWithoutAreas = (topic: TopicSlug) =>
    connection.kind === 'local' && lacksBoundariesOnly(connection.data, [topic]);
  const without = lacking.filter((topic) => !isOutdated(topic) && !isWithoutAreas(topic));
  const unplaced = lacking.filter(isWithoutAreas);
  if (unplaced.length > 0)
    lines.push(
      `No boundaries here, needed for ${topicNames(unplaced)}. Get them: ${getBoundariesCommand('tract', job.input, folder)}`,
    );
  for (const topic of lacking.filter(isOutdated))
    lines.push(`No answers for ${topic}: ${outdatedText(topic)}.`);
  if (without.length > 0)
    lines.push(`No data here for ${topicNames(without)}. Get it: ${get(without)}`);
  if (uncounted.length > 0) {
    const fate = 'their counts stay empty';
    lines.push(
      `No records of events here for ${topicNames(uncounted)}: ${fate}. Get them: ${get(uncounted)}`,
    );
  }
  lines.push(...partRecordLines(source, job, folder), ...placesMessages(states, job, folder));
  if (leftOut.length > 0) {
    const getAreas = `perilbook data get areas --states ${shellWord(leftOut.map(({ state }) => state).join(','))}`;
    lines.push(`The loaded boundaries leave out ${placesIn(leftOut)}. Get them: ${getAreas}`);
  }
  lines.push(...countyRatedLines(connection, source.county_ratings, job.topics, summary.cells));
  if (summary.source.kind !== 'local') return lines;
  if (job.budget !== null) lines.push('The budget has no effect: local answers cost nothing.');
  if (job.areas !== null) lines.push('areas has no effect: local answers cost nothing.');
  return lines;
}

function datasetLines(
  { datasets }: LocalSource,
  topics: readonly TopicSlug[],
  width: number,
): string[] {
  // The levels of a dataset (tract and county) differ in rows only, as a rule.
  const rows = datasets.map(({ name, source, vintage, states }) => [
    topicNames(
      topics.filter((topic) => [...needsOf(topic), ...eventDatasetsOf(topic)].includes(name)),
    ),
    name,
    vintage,
    states?.join(',') ?? 'US',
    sourceName(source),
  ]);
  const distinct = [...new Map(rows.map((row) => [row.join('\n'), row])).values()];
  return fittingTable(
    ['for', 'dataset', 'vintage', 'states', 'source'],
    distinct,
    ['source'],
    '  ',
    width,
  );
}

/** Leaves out the names of the files: there may be one per state and load. */
function sourceName(source: string): string {
  const names = source.split('; ').map((name) => name.replace(/ \([^()]*\)$/, ''));
  return [...new Set(names)].join('; ');
}

/** The topics whose events cover only the listed states: a count near another state would miss events. */
function partRecordLines(
  { datasets }: LocalSource,
  job: Prepared['job'],
  folder: string,
): string[] {
  const parts = new Set(datasets.filter(({ states }) => states !== null).map(({ name }) => name));
  const topics = job.topics.filter((topic) =>
    eventDatasetsOf(topic).some((name) => parts.has(name)),
  );
  if (topics.length === 0) return [];
  const get = getCommand({ ...job, topics }, folder);
  return [
    `Records of events for ${topicNames(topics)} are here for these states only: near others the counts stay empty. Get them: ${get}`,
  ];
}

/** Gives no count if no tract has a rating: then no area was searched, and some places may lie in a county without a rating. */
function countyRatedLines(
  connection: Prepared['connection'],
  places: LocalSource['county_ratings'],
  topics: readonly TopicSlug[],
  cells: number,
): string[] {
  if (Object.keys(places).length === 0) return [];
  const ratings = connection.kind === 'local' ? connection.data.countyRatings : null;
  if (ratings?.isEverywhere) return countyRatingLines(ratings);
  const rated = topics.filter((topic) => topicOf(topic).category === 'natural');
  const groups = Map.groupBy(rated, (topic) => places[topic] ?? 0);
  const lines = [...groups].filter(([count]) => count > 0);
  return lines.map(([count, some]) => {
    const hazards = some.length === rated.length ? '' : ` for ${topicNames(some)}`;
    return `${grouped(count)} of ${counted(cells, 'place')} get the rating of their county${hazards}: their tracts have none here, or no outline.`;
  });
}

type StatesWithoutData = LocalSource['places_without_data'];

/** The places in states whose data is not here, and the commands that get or load it. */
function placesMessages(states: StatesWithoutData, job: Prepared['job'], folder: string): string[] {
  const loadersOf = (of: StatesWithoutData[number]) =>
    Map.groupBy(of.topics, (topic) => manualLoader(topic, of.state));
  const parts = states.flatMap((of) =>
    [...loadersOf(of)].map(([loader, topics]) => ({ ...of, topics, loader })),
  );
  return [...Map.groupBy(parts, ({ loader }) => loader)].map(([loader, some]) => {
    const lacking = job.topics.filter((topic) => some.some(({ topics }) => topics.includes(topic)));
    // Of several topics a place may lack one: their places are counted together.
    const names = topicNames(lacking).replace(/^natural/, 'the natural');
    const where = `No data here for ${lacking.length > 1 ? `one or more of ${names}` : names} at ${placesIn(some)}`;
    if (loader === null)
      return `${where}. Get it: ${getCommand({ ...job, topics: lacking }, folder)}`;
    const load = `perilbook data load ${loader} FILE --states ${shellWord(some.map(({ state }) => state).join(','))}`;
    return `${where}, and none to download. Load a file that you have: ${load}`;
  });
}

/** `12 places in CO, IL` */
function placesIn(states: LocalSource['places_left_out']): string {
  const places = states.reduce((sum, state) => sum + state.places, 0);
  const names = states.slice(0, MOST_STATES).map(({ state }) => state);
  const rest = states.length - names.length;
  return `${counted(places, 'place')} in ${names.join(', ')}${rest > 0 ? ` and ${counted(rest, 'more state')}` : ''}`;
}

const MOST_STATES = 10;

/** Names of topics, or how many there are. */
function topicNames(topics: readonly TopicSlug[]): string {
  const hasNatural = NATURAL_SLUGS.every((slug) => topics.includes(slug));
  const others = topics.filter((topic) => !(hasNatural && topicOf(topic).category === 'natural'));
  const names = [...(hasNatural ? ['natural topics'] : []), ...others];
  return names.length > MOST_NAMED ? counted(topics.length, 'topic') : names.join(', ');
}

const MOST_NAMED = 5;

/** What a plan of local data says of its places: how many are looked up, and how many are here. */
export function localVerdict({ plan, summary }: Prepared): string {
  const { cells_cached: cached, cells_rejected: rejected } = summary;
  if (plan.order.length === 0) {
    return rejected === 0
      ? 'All answers are in the store.'
      : `Nothing to look up: ${counted(cached, 'place')} in the store, ${grouped(rejected)} in no area of the local data.`;
  }
  const rest = cached > 0 ? `; ${grouped(cached)} ${cached === 1 ? 'is' : 'are'} in the store` : '';
  return `${counted(plan.order.length, 'place')} to look up in local data, free of charge${rest}.`;
}
