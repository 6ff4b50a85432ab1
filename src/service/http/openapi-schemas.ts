import { z } from 'zod';
import { errorEnvelope, location, meta } from '../../contract/envelopes.ts';
import { NO_DATA_REASON, UNAVAILABLE } from '../../contract/failures.ts';
import { RESULT_SCHEMAS } from '../../contract/topic-values.ts';
import { type DetailsKind, TOPIC_SLUGS, TOPICS, type TopicSlug } from '../../contract/topics.ts';
import { DISTANCE_PROPERTY } from '../../data/tables/layer-search.ts';
import { SEARCH_RADII, type Searched } from '../../data/topics/search-radii.ts';

/** A JSON Schema (2020-12), for OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The schemas of all bodies by name: each topic's answer, alone and in a bundle. `value` comes from the schemas that client
 * and service share; `details` describes this service's own, which have more than a client may rely on.
 */
export function componentSchemas(standardTopics: readonly TopicSlug[]): Record<string, JsonSchema> {
  return {
    ErrorEnvelope: schemaOf(errorEnvelope),
    Meta: schemaOf(meta),
    Location: schemaOf(location),
    Feature: FEATURE,
    UnavailableTopic: {
      type: 'object',
      description: 'A topic that has no answer while its bundle succeeded.',
      required: ['error'],
      properties: {
        error: { type: 'string', const: UNAVAILABLE },
        reason: {
          type: 'string',
          const: NO_DATA_REASON,
          description:
            'The publisher has nothing on this location, which lasts. Without it: the data is not available now.',
        },
      },
    },
    ...Object.fromEntries(
      TOPICS.flatMap(({ slug, details }) => [
        [resultName(slug), resultSchema(slug, details)],
        [answerName(slug), answerSchema(slug)],
      ]),
    ),
    SingleEnvelope: envelope({
      oneOf: TOPIC_SLUGS.map((slug) => reference(answerName(slug))),
      discriminator: {
        propertyName: 'topic',
        mapping: Object.fromEntries(TOPIC_SLUGS.map((slug) => [slug, reference(answerName(slug)).$ref])),
      },
    }),
    StandardEnvelope: bundleSchema(standardTopics),
    EnterpriseEnvelope: bundleSchema(TOPIC_SLUGS),
  };
}

export function reference(schema: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${schema}` };
}

const FEATURE: JsonSchema = {
  type: 'object',
  description: 'A GeoJSON Feature (RFC 7946). Its properties are those of the agency, and its distance.',
  required: ['type', 'geometry', 'properties'],
  properties: {
    type: { const: 'Feature' },
    id: { type: ['string', 'number'] },
    geometry: { type: 'object', required: ['type'], properties: { type: { type: 'string' } } },
    properties: {
      type: 'object',
      required: [DISTANCE_PROPERTY],
      properties: {
        [DISTANCE_PROPERTY]: {
          type: 'integer',
          minimum: 0,
          description: 'Metres from the location to the feature; 0 inside an outline.',
        },
      },
    },
  },
};

const FEATURES: JsonSchema = {
  type: 'array',
  description: 'The nearest first.',
  items: reference('Feature'),
};

const NULL = 'Null where the records are not loaded.';

const WILDFIRE_LISTS = ['current', 'historical', 'perimeters'] as const;

function resultSchema(slug: TopicSlug, details: DetailsKind): JsonSchema {
  const { properties } = schemaOf(RESULT_SCHEMAS.get(slug)!) as { properties: { value: JsonSchema } };
  return {
    type: 'object',
    required: ['value', 'details'],
    properties: { value: properties.value, details: detailsSchema(slug, details) },
  };
}

function detailsSchema(slug: TopicSlug, details: DetailsKind): JsonSchema {
  const within = (searched: string) =>
    `Within ${SEARCH_RADII[searched as Searched]} m of the location, the nearest first.`;
  switch (details) {
    case 'none':
      return { type: 'null' };
    case 'array':
      return { ...FEATURES, type: ['array', 'null'], description: `${within(slug)} ${NULL}` };
    case 'wildfire':
      return {
        type: ['object', 'null'],
        description: `Empty where there is none of the three; a list that is left out is not loaded. ${NULL}`,
        properties: Object.fromEntries(
          WILDFIRE_LISTS.map((list) => [list, { ...FEATURES, description: within(`wildfire.${list}`) }]),
        ),
      };
    case 'object':
    case 'features':
      return {
        type: details === 'object' ? ['object', 'null'] : 'object',
        description: `A GeoJSON FeatureCollection. ${within(slug)}${details === 'object' ? ` ${NULL}` : ''}`,
        required: ['type', 'radius_m', 'features'],
        properties: {
          type: { const: 'FeatureCollection' },
          radius_m: {
            type: 'number',
            const: SEARCH_RADII[slug as Searched],
            description: 'Radius of the search in metres.',
          },
          features: FEATURES,
        },
      };
  }
}

function answerSchema(slug: TopicSlug): JsonSchema {
  return {
    type: 'object',
    required: ['topic', 'location', 'result'],
    properties: {
      topic: { type: 'string', const: slug },
      location: reference('Location'),
      result: reference(resultName(slug)),
    },
  };
}

function bundleSchema(slugs: readonly TopicSlug[]): JsonSchema {
  const entry = (slug: TopicSlug) => ({ anyOf: [reference(resultName(slug)), reference('UnavailableTopic')] });
  return envelope({
    type: 'object',
    required: ['location', 'topics'],
    properties: {
      location: reference('Location'),
      topics: {
        type: 'object',
        required: slugs,
        properties: Object.fromEntries(slugs.map((slug) => [slug, entry(slug)])),
      },
    },
  });
}

function envelope(data: JsonSchema): JsonSchema {
  return { type: 'object', required: ['data', 'meta'], properties: { data, meta: reference('Meta') } };
}

function resultName(slug: TopicSlug): string {
  return `${slug}Result`;
}

function answerName(slug: TopicSlug): string {
  return `${slug}Answer`;
}

function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return rest as JsonSchema;
}
