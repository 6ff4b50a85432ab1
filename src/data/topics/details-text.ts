import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { FoundFeature } from '../tables/layer-search.ts';
import { arrayText, collectionText, type TextPart } from './result-text.ts';

/** The events of one kind around a location, and the radius of the search. */
interface FoundEvents {
  readonly features: readonly FoundFeature[];
  readonly radius: number;
}

/** The `details` of a natural topic or a measurement, from the events of each of its kinds; null for kinds that are not loaded. */
export function detailsText(topic: TopicSlug, found: readonly (FoundEvents | null)[]): readonly TextPart[] {
  if (found.every((events) => events === null)) return ['null'];
  switch (topicOf(topic).details) {
    case 'wildfire':
      return wildfireText(found);
    case 'object':
      return collectionText(found[0]!.features, found[0]!.radius);
    default:
      return arrayText(found[0]!.features);
  }
}

const FIRES = ['current', 'historical', 'perimeters'] as const;

/** A member for each kind of fire that is loaded; an empty object when all are and nothing is near (docs/developer/service-api.md
 * 4.4). */
function wildfireText(found: readonly (FoundEvents | null)[]): readonly TextPart[] {
  if (found.every((events) => events?.features.length === 0)) return ['{}'];
  const loaded = FIRES.map((name, index) => [name, found[index]!] as const).filter(([, events]) => events !== null);
  const parts = loaded.flatMap(([name, { features }], index): TextPart[] => [
    `${index === 0 ? '{' : ','}"${name}":`,
    ...arrayText(features),
  ]);
  return [...parts, '}'];
}
