import { topicOf } from '../../contract/topics.ts';
import type { Prepared } from '../../run/prepare.ts';
import { hasOneCurrency } from '../../run/scan/currency.ts';
import { enrichedCells } from '../../run/write/enriched-cells.ts';
import type { TopicRatings } from '../../run/write/rating-counts.ts';
import { makeCellClasses, ratedTopics } from './cell-classes.ts';
import { type Facts, type Measure, measureOf, percent, type TopicFacts } from './facts.ts';
import { knownWord, scaleOf, unansweredClass, VERY_HIGH } from './scales.ts';
import { LayerSums, type Rated, type Sum, sumMaker } from './sums.ts';

/** The highest rating of any location for a peril, and the locations that have it. */
export interface RatingFinding {
  /** The title of the topic. */
  readonly title: string;
  readonly answered: Sum;
  readonly rating: 'Very High' | 'Relatively High';
  /** The locations that have it. */
  readonly rated: Sum;
}

function ratingFinding(
  title: string,
  answered: Sum,
  veryHigh: Sum,
  severe: Sum,
): RatingFinding | null {
  const finding = (rating: RatingFinding['rating'], rated: Sum): RatingFinding => ({
    title,
    answered,
    rating,
    rated,
  });
  if (veryHigh.locations > 0) return finding('Very High', veryHigh);
  return severe.locations > 0 ? finding('Relatively High', severe) : null;
}

/** First the findings of Very High, with most value (or locations). */
function compareFindings(a: RatingFinding, b: RatingFinding): number {
  if (a.rating !== b.rating) return a.rating === 'Very High' ? -1 : 1;
  return (b.rated.value ?? 0) - (a.rated.value ?? 0) || b.rated.locations - a.rated.locations;
}

const MOST_OF_RUN = 3;

/** The findings that the terminal prints at the end of a run, about its rows. */
export function findingsOfRun(
  { job, plan: { scan } }: Pick<Prepared, 'job' | 'plan'>,
  ratings: readonly TopicRatings[],
): { readonly findings: readonly RatingFinding[]; readonly currency: string | null } {
  // Sums over several currencies mean nothing.
  const sumOf = sumMaker(
    scan.layout.values === 0 || !hasOneCurrency(scan.findings) ? null : scan.cells.decimals,
  );
  const findings = ratings.map(({ title, answered, highest: [veryHigh, high] }) => {
    const severe = { rows: veryHigh.rows + high.rows, value: veryHigh.value + high.value };
    return ratingFinding(title, sumOf(answered), sumOf(veryHigh), sumOf(severe));
  });
  const sorted = findings.filter((finding) => finding !== null).sort(compareFindings);
  return { findings: sorted.slice(0, MOST_OF_RUN), currency: job.currency ?? scan.currency };
}

/** The sentence with which the run of a single topic without ratings ends: the share in its severe classes, and what is unknown; null
 * for other runs. Reads the places once more. */
export async function sentenceOfTopic(prepared: Prepared): Promise<string | null> {
  const { job, plan } = prepared;
  const { scan } = plan;
  const topics = ratedTopics(job);
  const [only] = topics;
  if (only === undefined || topics.length > 1 || only.natural) return null;
  const classes = makeCellClasses(topics, 1);
  const sums = new LayerSums(1);
  const ofCell = new Uint8Array(1);
  for await (const batch of enrichedCells(prepared)) {
    for (const { rows, value, fields } of batch) {
      classes.put(0, fields);
      classes.copy(0, ofCell, 0);
      sums.add(rows, value, ofCell);
    }
  }
  const all = sums.counted(0);
  const isValued = scan.layout.values > 0 && all.value > 0 && hasOneCurrency(scan.findings);
  const rated = sums.rated(0, only.scale, sumMaker(isValued ? scan.cells.decimals : null));
  if (rated.answered.locations === 0) return null;
  const { title, category } = topicOf(only.slug);
  const topic = { topic: only.slug, title, category, mostIn: [], ...rated };
  const currency = job.currency ?? scan.currency;
  const measure = measureOf({ valueName: isValued ? '' : null, currency });
  return sentence(severeClauses(topic, job, measure));
}

/** The finding of the first sentence, with its peril. */
export interface Headline extends RatingFinding {
  readonly peril: TopicFacts;
}

/** The peril of the first sentence; null without a high rating. */
export function findHeadline(facts: Pick<Facts, 'topics'>): Headline | null {
  const findings = naturalOf(facts).flatMap((peril) => {
    const finding = ratingFinding(
      peril.title,
      peril.answered,
      peril.classes[VERY_HIGH]!,
      peril.severe,
    );
    return finding === null ? [] : [{ ...finding, peril }];
  });
  return findings.sort(compareFindings)[0] ?? null;
}

/** The first sentences of a report: the topics without any answer, then the largest share, its main counties, and the unanswered share. */
export function formatStory(facts: Omit<Facts, 'story'>): string {
  const { all, highest, topics } = facts;
  if (all.locations === 0) return 'No row has a location in the US.';
  // A column of zeros shows no risk.
  const measure = measureOf(all.value ? facts : { ...facts, valueName: null });
  const [answered, lacking] = byAnswer(topics);
  if (answered.length === 0) return `Nothing of ${measure.words(all)} is answered yet.`;
  const finding = findHeadline(facts);
  if (finding === null && highest !== null)
    return sentence(quietClauses(naturalOf(facts), facts, highest, measure));
  const clauses =
    finding === null
      ? severeClauses(answered[0]!, facts, measure)
      : highClauses(finding, facts, measure);
  return lacking.length > 0
    ? `${formatNames(lacking)}: not answered. ${sentence(clauses)}`
    : sentence(clauses);
}

/** Clauses without words are left out. */
function sentence(clauses: readonly string[]): string {
  return `${clauses.filter((clause) => clause !== '').join('; ')}.`;
}

function naturalOf({ topics }: Pick<Facts, 'topics'>): TopicFacts[] {
  return topics.filter(({ category }) => category === 'natural');
}

function byAnswer(topics: readonly TopicFacts[]): [answered: TopicFacts[], lacking: TopicFacts[]] {
  const isAnswered = ({ answered }: Rated) => answered.locations > 0;
  return [topics.filter(isAnswered), topics.filter((topic) => !isAnswered(topic))];
}

/** Where no rating is high. Only what is answered everywhere has none. */
function quietClauses(
  natural: readonly TopicFacts[],
  { all }: Pick<Facts, 'all'>,
  highest: Rated,
  measure: Measure,
) {
  if (natural.every(({ notAnswered }) => notAnswered.locations === 0)) {
    return [`None of the ${measure.words(all)} is rated Relatively High or Very High for a hazard`];
  }
  const [answered, lacking] = byAnswer(natural);
  if (answered.length === 0) return [`${formatNames(lacking)} not answered`];
  const sums = new Set(answered.map((topic) => measure.of(topic.answered)));
  const where =
    sums.size === 1 ? `the ${measure.words(answered[0]!.answered)} answered` : 'what is answered';
  return [
    `${formatNames(answered)}: nothing high in ${where}`,
    lacking.length > 0
      ? `${formatNames(lacking).toLowerCase()} not answered`
      : unansweredClause(highest, measure),
  ];
}

function severeClauses(
  topic: TopicFacts,
  { units }: Pick<Facts, 'units'>,
  measure: Measure,
): string[] {
  const scale = scaleOf(topic.topic, units);
  const { severe, kind } = scale;
  const of = topic.category === 'proximity' ? 'of' : 'for';
  // A Special Flood Hazard Area names itself.
  const what =
    kind === 'flood'
      ? severe.words
      : kind === 'zone'
        ? `${severe.words} (${topic.title})`
        : `${severe.words} ${of} ${topic.title}`;
  const open = topic.classes
    .slice(scale.known, unansweredClass(scale))
    .filter((sum) => measure.of(sum) > 0);
  return [
    topic.known.locations === 0
      ? ''
      : shareText(topic.severe, topic.known, what, measure, knownWord(scale)),
    ...open.map(
      (sum) => `${measure.words(sum)} ${isOrAre(sum, measure)} ${sum.name.toLowerCase()}`,
    ),
    unansweredClause(topic, measure),
  ];
}

function highClauses(
  finding: Headline,
  facts: Pick<Facts, 'states' | 'counties'>,
  measure: Measure,
): string[] {
  const { title, answered, rating, rated, peril } = finding;
  const high = shareText(rated, answered, `rated ${rating} for ${title.toLowerCase()}`, measure);
  return [high, countiesClause(finding, facts, measure), unansweredClause(peril, measure)];
}

/** `Miami-Dade and Orange hold 34 % of it`; '' where there are no other counties. */
function countiesClause(
  finding: Headline,
  facts: Pick<Facts, 'states' | 'counties'>,
  measure: Measure,
): string {
  const { mostIn } = finding.peril;
  const shown = mostIn.slice(0, 2);
  if (facts.counties.count <= shown.length) return '';
  const names = shown.map(({ county }) =>
    facts.states.count === 1 ? county.replace(/, .*/, '') : county,
  );
  const held = shown.reduce((sum, county) => sum + measure.of(county), 0);
  const all = measure.of(finding.rated);
  const share = percent(mostIn.length === shown.length ? all : held, all, 0);
  return `${names.join(' and ')} ${names.length === 1 ? 'holds' : 'hold'} ${share} of it`;
}

function unansweredClause({ notAnswered }: Rated, measure: Measure): string {
  if (measure.of(notAnswered) === 0) return '';
  return `${measure.words(notAnswered)} ${isOrAre(notAnswered, measure)} not answered`;
}

const MOST_NAMES = 3;

/** `Hail, wildfire and earthquake`; `15 topics`. */
function formatNames(topics: readonly TopicFacts[]): string {
  if (topics.length > MOST_NAMES) return `${topics.length} topics`;
  const names = topics.map(({ title }, index) => (index === 0 ? title : title.toLowerCase()));
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function shareText(
  part: Sum,
  whole: Sum,
  words: string,
  measure: Measure,
  wholeIs = 'answered',
): string {
  const share = percent(measure.of(part), measure.of(whole), 0);
  return `${share} of the ${measure.words(whole)} ${wholeIs} ${isOrAre(whole, measure)} ${words}`;
}

function isOrAre({ locations }: Sum, { by }: Measure): string {
  return by === 'value' || locations === 1 ? 'is' : 'are';
}
