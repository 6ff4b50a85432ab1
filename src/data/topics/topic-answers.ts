import { NO_DATA_REASON, UNAVAILABLE } from '../../contract/envelopes.ts';
import { NATURAL_SLUGS, type NaturalSlug, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import { type BoundaryCheck, createBoundaryCheck } from '../tables/boundary-check.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { describeData } from '../tables/describe-data.ts';
import { FeatureTiles } from '../tables/feature-tiles.ts';
import { createLayerSearch, type NearFeature } from '../tables/layer-search.ts';
import { createLossRates } from './loss-rates.ts';
import { createOriginFinder, dataBehind } from './origin-notes.ts';
import {
  arrayText,
  collectionText,
  isMissing,
  type MissingReason,
  type ResultText,
  resultText,
  type TextPart,
} from './result-text.ts';
import { createTopicRules, type TopicFinding } from './topic-rules.ts';

/** Whether a topic fails at a location, for tests of clients. */
export type RehearsedFailures = (topic: TopicSlug, location: Location) => boolean;

/** The topics of a bundle at a location. */
interface BundleText {
  readonly parts: readonly TextPart[];
  readonly answered: number;
  /** A topic lacks its result because of data that is not available. */
  readonly isIncomplete: boolean;
}

interface TopicAnswers {
  readonly single: (
    topic: TopicSlug,
    location: Location,
    area: Area,
    now: number,
  ) => ResultText | MissingReason;
  readonly bundle: (
    topics: readonly TopicSlug[],
  ) => (location: Location, area: Area, now: number) => BundleText;
}

/** Answers topics at a location with a known area. Call it within a transaction, so that all topics of a call come from the same data. */
export function createTopicAnswers(
  database: DataDatabase,
  failures: RehearsedFailures | undefined,
  versionOf: DataVersion,
  boundaries: BoundaryCheck = createBoundaryCheck(database, versionOf),
): TopicAnswers {
  const { find } = createLayerSearch(database, 'json', new FeatureTiles(), versionOf);
  const { decide } = createTopicRules(database, versionOf, boundaries);

  function searched(layers: TopicFinding['layers'], location: Location) {
    return layers.map((search) =>
      search === null
        ? null
        : { features: find(search.layer, location, search.meters), radius: search.meters },
    );
  }

  const readData = oncePerVersion(versionOf, () => {
    const { datasets, sample, countyRatings } = describeData(database);
    return { datasets, sample, countyRatings, texts: new Map<string, string>() };
  });
  const findOrigin = createOriginFinder(database, versionOf, () => readData().countyRatings);
  const lossRatesOf = createLossRates(database, versionOf);

  /** The expected annual loss rate of a rating: the contract has no member for it. */
  function lossRateMember(topic: TopicSlug, area: Area): string {
    const index = NATURAL_SLUGS.indexOf(topic as NaturalSlug);
    const rate = index < 0 ? null : lossRatesOf(area)[index]!;
    return rate === null ? '' : `,"loss_rate":${rate}`;
  }

  function statedMember(topic: TopicSlug, area: Area, own: readonly string[]): string {
    const { datasets, sample, texts } = readData();
    if (sample) return '';
    const origin = findOrigin(area);
    const key = [topic, ...Object.values(origin), ...own].join('|');
    let text = texts.get(key);
    if (text === undefined) {
      const data = dataBehind(datasets, [topic], true, origin);
      const { vintages, remarks } = { ...data, remarks: [...data.remarks, ...own] };
      text = JSON.stringify(remarks.length > 0 ? { vintages, remarks } : { vintages }).slice(0, -1);
      texts.set(key, text);
    }
    return `,"data":${text}${lossRateMember(topic, area)}}`;
  }

  function single(
    topic: TopicSlug,
    location: Location,
    area: Area,
    now: number,
  ): ResultText | MissingReason {
    if (failures?.(topic, location)) return 'unavailable';
    const finding = decide(topic, location, area, now);
    if ('reason' in finding) return finding.reason;
    const eventsByKind = searched(finding.layers, location);
    const stated = statedMember(topic, area, finding.value?.remarks ?? []);
    if (finding.value !== null)
      return { value: finding.value.json, details: detailsText(topic, eventsByKind), stated };
    const { features, radius } = eventsByKind[0]!;
    return { value: String(features.length), details: collectionText(features, radius), stated };
  }

  function bundle(topics: readonly TopicSlug[]) {
    return (location: Location, area: Area, now: number) => {
      const results = topics.map((topic) => [topic, single(topic, location, area, now)] as const);
      const parts = results.flatMap(([topic, result], index) => [
        `${index === 0 ? '' : ','}"${topic}":`,
        ...(isMissing(result) ? [MISSING_ENTRIES[result]] : resultText(result)),
      ]);
      const answered = results.filter(([, result]) => !isMissing(result)).length;
      return {
        parts,
        answered,
        isIncomplete: results.some(([, result]) => result === 'unavailable'),
      };
    };
  }

  return { single, bundle };
}

const MISSING_ENTRIES: Readonly<Record<MissingReason, string>> = {
  unavailable: JSON.stringify({ error: UNAVAILABLE }),
  no_data: JSON.stringify({ error: UNAVAILABLE, reason: NO_DATA_REASON }),
};

interface NearEvents {
  readonly features: readonly NearFeature[];
  readonly radius: number;
}

/** The `details` of a natural topic or a measurement, from the events of each of its kinds; null for kinds that are not loaded. */
function detailsText(
  topic: TopicSlug,
  eventsByKind: readonly (NearEvents | null)[],
): readonly TextPart[] {
  if (eventsByKind.every((events) => events === null)) return ['null'];
  switch (topicOf(topic).details) {
    case 'wildfire':
      return wildfireText(eventsByKind);
    case 'object':
      return collectionText(eventsByKind[0]!.features, eventsByKind[0]!.radius);
    default:
      return arrayText(eventsByKind[0]!.features);
  }
}

const FIRES = ['current', 'historical', 'perimeters'] as const;

/** A member for each kind of fire that is loaded; an empty object when all are and nothing is near (docs/developer/service-api.md 4.4). */
function wildfireText(eventsByKind: readonly (NearEvents | null)[]): readonly TextPart[] {
  if (eventsByKind.every((events) => events?.features.length === 0)) return ['{}'];
  const fires = FIRES.map((name, index) => [name, eventsByKind[index]!] as const);
  const loaded = fires.filter(([, events]) => events !== null);
  const parts = loaded.flatMap(([name, { features }], index): TextPart[] => [
    `${index === 0 ? '{' : ','}"${name}":`,
    ...arrayText(features),
  ]);
  return [...parts, '}'];
}
