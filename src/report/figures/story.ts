import type { Prepared } from '../../run/prepare.ts';
import { hasSeveralCurrencies } from '../../run/scan/scan-input.ts';
import type { TopicRatings } from '../../run/write/rating-counts.ts';
import type { Facts, TopicFacts } from './facts.ts';
import { type Measure, measureOf, percent } from './measure.ts';
import { scaleOf, severeClasses, VERY_HIGH } from './scales.ts';
import { type Rated, type Sum, sumMaker } from './sums.ts';

/** The answered sum of a natural topic, and its part with a high rating. */
interface RatedPeril {
  readonly title: string;
  readonly answered: Sum;
  readonly veryHigh: Sum;
  /** Relatively High and Very High together. */
  readonly severe: Sum;
}

/** The highest rating of any location for a peril, and the locations that have it. */
export interface RatingFinding extends Pick<RatedPeril, 'title' | 'answered'> {
  readonly rating: 'Very High' | 'Relatively High';
  readonly rated: Sum;
}

/** The perils with high ratings; first the ones with most value (or locations) at Very High. */
function ratingFindings<Peril extends RatedPeril>(perils: readonly Peril[]) {
  const findings = perils.flatMap((peril): (RatingFinding & { readonly peril: Peril })[] => {
    const { title, answered, veryHigh, severe } = peril;
    if (veryHigh.locations > 0) return [{ title, answered, rating: 'Very High', rated: veryHigh, peril }];
    return severe.locations > 0 ? [{ title, answered, rating: 'Relatively High', rated: severe, peril }] : [];
  });
  const rank = ({ rating }: RatingFinding) => (rating === 'Very High' ? 0 : 1);
  return findings.sort(
    (a, b) => rank(a) - rank(b) || (b.rated.value ?? 0) - (a.rated.value ?? 0) || b.rated.locations - a.rated.locations,
  );
}

const MOST_OF_RUN = 3;

/** The findings that the terminal prints at the end of a run, about its rows. */
export function findingsOfRun(
  { job, plan: { scan } }: Pick<Prepared, 'job' | 'plan'>,
  ratings: readonly TopicRatings[],
): { readonly findings: readonly RatingFinding[]; readonly currency: string | null } {
  // Sums over several currencies mean nothing.
  const sumOf = sumMaker(scan.layout.values === 0 || hasSeveralCurrencies(scan) ? null : scan.cells.decimals);
  const perils = ratings.map(({ title, answered, highest: [veryHigh, high] }) => ({
    title,
    answered: sumOf(answered),
    veryHigh: sumOf(veryHigh),
    severe: sumOf({ rows: veryHigh.rows + high.rows, value: veryHigh.value + high.value }),
  }));
  return { findings: ratingFindings(perils).slice(0, MOST_OF_RUN), currency: job.currency ?? scan.currency };
}

/** The peril of the first sentence; null without a high rating. */
export function headlineOf(facts: Pick<Facts, 'topics'>): (RatingFinding & { readonly peril: TopicFacts }) | null {
  const natural = facts.topics.filter(({ category }) => category === 'natural');
  return (
    ratingFindings(natural.map((topic) => ({ ...topic, veryHigh: topic.classes[VERY_HIGH]!, facts: topic }))).map(
      (finding) => ({ ...finding, peril: finding.peril.facts }),
    )[0] ?? null
  );
}

/** The first sentences of a report: the topics without any answer, then the largest share, its main counties, and the unanswered share. */
export function storyOf(facts: Omit<Facts, 'story'>): string {
  const { all, highest, topics, units } = facts;
  if (all.locations === 0) return 'No row has a location in the US.';
  // A column of zeros shows no risk.
  const measure = measureOf(all.value ? facts : { ...facts, valueName: null });
  const [answered, lacking] = [topics.filter(isAnswered), topics.filter((topic) => !isAnswered(topic))];
  if (answered.length === 0) return `Nothing of ${measure.words(all)} is answered yet.`;
  const finding = headlineOf(facts);
  if (finding === null && highest !== null) return `${nothingHigh(facts, highest, measure)}.`;
  const whole = finding?.peril ?? answered[0]!;
  const parts = finding
    ? [
        shareText(finding.rated, whole.answered, `rated ${finding.rating} for ${finding.title.toLowerCase()}`, measure),
        whereWords(finding.peril, facts, measure),
      ]
    : [shareText(whole.severe, whole.answered, severeText(whole, units), measure)];
  const first = lacking.length > 0 ? `${namesOf(lacking)}: not answered. ` : '';
  return `${first}${[...parts, unansweredText(whole, measure)].filter(Boolean).join('; ')}.`;
}

const isAnswered = ({ answered }: Rated) => answered.locations > 0;

function unansweredText({ notAnswered }: Rated, measure: Measure): string {
  if (measure.of(notAnswered) === 0) return '';
  return `${measure.words(notAnswered)} ${isOrAre(notAnswered, measure)} not answered`;
}

/** Where no rating is high. Only what is answered everywhere has none. */
function nothingHigh({ topics, all }: Pick<Facts, 'topics' | 'all'>, highest: Rated, measure: Measure): string {
  const natural = topics.filter(({ category }) => category === 'natural');
  if (natural.every(({ notAnswered }) => notAnswered.locations === 0)) {
    return `None of the ${measure.words(all)} is rated Relatively High or Very High for a hazard`;
  }
  const [answered, lacking] = [natural.filter(isAnswered), natural.filter((topic) => !isAnswered(topic))];
  const of = (topic: Rated) => measure.of(topic.answered);
  const isSame = answered.every((topic) => of(topic) === of(answered[0]!));
  const where =
    isSame && answered.length > 0 ? `the ${measure.words(answered[0]!.answered)} answered` : 'what is answered';
  return [
    answered.length > 0 && `${namesOf(answered)}: nothing high in ${where}`,
    lacking.length > 0
      ? `${answered.length > 0 ? namesOf(lacking).toLowerCase() : namesOf(lacking)} not answered`
      : unansweredText(highest, measure),
  ]
    .filter(Boolean)
    .join('; ');
}

const MOST_NAMES = 3;

/** `Hail, wildfire and earthquake`; `15 topics`. */
function namesOf(topics: readonly TopicFacts[]): string {
  if (topics.length > MOST_NAMES) return `${topics.length} topics`;
  const names = topics.map(({ title }, index) => (index === 0 ? title : title.toLowerCase()));
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function shareText(part: Sum, answered: Sum, words: string, measure: Measure): string {
  const share = percent(measure.of(part), measure.of(answered), 0);
  return `${share} of the ${measure.words(answered)} answered ${isOrAre(answered, measure)} ${words}`;
}

function isOrAre({ locations }: Sum, { by }: Measure): string {
  return by === 'value' || locations === 1 ? 'is' : 'are';
}

function severeText({ topic, title, category }: TopicFacts, units: Facts['units']): string {
  const { words } = severeClasses(scaleOf(topic, units), units);
  return `${words} ${category === 'proximity' ? 'of' : 'for'} ${title}`;
}

/** `Miami-Dade and Orange hold 34 % of it`; '' where there are no other counties. */
function whereWords(
  { mostIn, classes, severe }: TopicFacts,
  { states, counties }: Pick<Facts, 'states' | 'counties'>,
  measure: Measure,
): string {
  const shown = mostIn.slice(0, 2);
  if (counties.count <= shown.length) return '';
  const whole = measure.of(classes[VERY_HIGH]!.locations > 0 ? classes[VERY_HIGH]! : severe);
  const names = shown.map(({ county }) => (states.count === 1 ? county.replace(/, .*/, '') : county));
  const isAll = mostIn.length === shown.length;
  const held = isAll ? whole : shown.reduce((sum, county) => sum + measure.of(county), 0);
  return `${names.join(' and ')} ${names.length === 1 ? 'holds' : 'hold'} ${percent(held, whole, 0)} of it`;
}
