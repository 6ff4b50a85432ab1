import { NO_DATA_REASON, UNAVAILABLE } from '../../contract/failures.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { Area } from '../tables/area-finder.ts';
import { type BoundaryCheck, createBoundaryCheck } from '../tables/boundary-check.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DataVersion, oncePerVersion } from '../tables/data-version.ts';
import { FeatureTiles } from '../tables/feature-tiles.ts';
import { createLayerSearch } from '../tables/layer-search.ts';
import { detailsText } from './details-text.ts';
import {
  collectionText,
  isMissing,
  type MissingReason,
  type ResultText,
  resultText,
  type TextPart,
} from './result-text.ts';
import type { Radii } from './search-radii.ts';
import { createTopicRules, type TopicFinding } from './topic-rules.ts';

/** Whether a topic fails at a location; for testing what a consumer does then. */
export type RehearsedFailures = (topic: TopicSlug, location: Location) => boolean;

/** The topics of a bundle as members of a JSON object, and whether they have results. */
interface BundleText {
  readonly parts: readonly TextPart[];
  /** Topics with a result. */
  readonly answered: number;
  /** Whether a topic lacks its result because of data that is not available. */
  readonly isIncomplete: boolean;
}

/** Answers topics at a location with a known area. To be called within a transaction, so that all topics of a call come from
 * the same data. */
export interface TopicAnswers {
  single(topic: TopicSlug, location: Location, area: Area, now: number): ResultText | MissingReason;
  /** Makes the function that answers a bundle of these topics. */
  bundle(topics: readonly TopicSlug[]): (location: Location, area: Area, now: number) => BundleText;
}

/** What a bundle has at every location of an area: text in UTF-8, and places in it for what differs. */
interface AreaText extends Omit<BundleText, 'parts'> {
  readonly pieces: readonly AreaPiece[];
  readonly end: Buffer;
}

interface AreaPiece {
  readonly before: Buffer;
  readonly topic: TopicSlug;
  /** The layers of which the topic's details come; null where its whole entry differs. */
  readonly layers: TopicFinding['layers'] | null;
}

/** The most areas whose text is cached for a bundle: about 10 MB. */
const CACHED_AREAS = 4_000;

export function createTopicAnswers(
  database: DataDatabase,
  radii: Radii,
  failures: RehearsedFailures | undefined,
  versionOf: DataVersion,
  boundaries: BoundaryCheck = createBoundaryCheck(database, versionOf),
): TopicAnswers {
  const search = createLayerSearch(database, new FeatureTiles(), versionOf);
  const decide = createTopicRules(database, radii, versionOf, boundaries);

  function searched(layers: TopicFinding['layers'], location: Location) {
    return layers.map((one) =>
      one === null ? null : { features: search(one.layer, location, one.meters), radius: one.meters },
    );
  }

  function single(topic: TopicSlug, location: Location, area: Area, now: number): ResultText | MissingReason {
    if (failures?.(topic, location)) return 'unavailable';
    const finding = decide(topic, location, area, now);
    if ('reason' in finding) return finding.reason;
    const found = searched(finding.layers, location);
    if (finding.value !== null) return { value: finding.value.json, details: detailsText(topic, found) };
    const { features, radius } = found[0]!;
    return { value: String(features.length), details: collectionText(features, radius) };
  }

  /** A natural topic depends on the area alone, but for the events near the location. */
  function areaText(topics: readonly TopicSlug[], location: Location, area: Area, now: number): AreaText {
    const pieces: AreaPiece[] = [];
    let [before, answered, isIncomplete] = ['', 0, false];
    for (const [index, topic] of topics.entries()) {
      before += `${index === 0 ? '' : ','}"${topic}":`;
      const finding =
        failures === undefined && topicOf(topic).category === 'natural' ? decide(topic, location, area, now) : null;
      if (finding === null) {
        pieces.push({ before: Buffer.from(before), topic, layers: null });
        before = '';
      } else if ('reason' in finding) {
        before += MISSING_ENTRIES[finding.reason];
        isIncomplete ||= finding.reason === 'unavailable';
      } else {
        before += `{"value":${finding.value!.json},"details":`;
        answered++;
        if (finding.layers.some((layer) => layer !== null)) {
          pieces.push({ before: Buffer.from(before), topic, layers: finding.layers });
          before = '}';
        } else before += 'null}';
      }
    }
    return { pieces, end: Buffer.from(before), answered, isIncomplete };
  }

  function bundle(topics: readonly TopicSlug[]): ReturnType<TopicAnswers['bundle']> {
    const cacheOf = oncePerVersion(versionOf, () => new Map<string, AreaText>());
    return (location, area, now) => {
      const cache = cacheOf();
      let text = cache.get(area.geoid);
      if (text === undefined) {
        text = areaText(topics, location, area, now);
        if (cache.size === CACHED_AREAS) cache.delete(cache.keys().next().value!);
        cache.set(area.geoid, text);
      }
      let { answered, isIncomplete } = text;
      const parts: TextPart[] = [];
      for (const { before, topic, layers } of text.pieces) {
        parts.push(before);
        if (layers !== null) {
          parts.push(...detailsText(topic, searched(layers, location)));
          continue;
        }
        const result = single(topic, location, area, now);
        if (isMissing(result)) {
          parts.push(MISSING_ENTRIES[result]);
          isIncomplete ||= result === 'unavailable';
        } else {
          parts.push(...resultText(result));
          answered++;
        }
      }
      parts.push(text.end);
      return { parts, answered, isIncomplete };
    };
  }

  return { single, bundle };
}

const MISSING_ENTRIES: Readonly<Record<MissingReason, string>> = {
  unavailable: JSON.stringify({ error: UNAVAILABLE }),
  no_data: JSON.stringify({ error: UNAVAILABLE, reason: NO_DATA_REASON }),
};
