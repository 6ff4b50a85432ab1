import { z } from 'zod';
import { CREDITS } from '../../contract/credits.ts';
import { errorEnvelope, location, meta } from '../../contract/envelopes.ts';
import { NO_DATA_REASON, UNAVAILABLE } from '../../contract/failures.ts';
import { HEADERS } from '../../contract/headers.ts';
import { RESULT_SCHEMAS } from '../../contract/topic-values.ts';
import { type DetailsKind, PAID_SLUGS, TOPIC_SLUGS, TOPICS, type TopicSlug } from '../../contract/topics.ts';
import { DISTANCE_PROPERTY } from '../../data/tables/layer-search.ts';
import { SEARCH_RADII, type Searched } from '../../data/topics/search-radii.ts';

/** A JSON Schema (2020-12), for OpenAPI 3.1. */
type JsonSchema = Readonly<Record<string, unknown>>;

/** The description of the service as OpenAPI 3.1. */
export function openApiDocument(standardTopics: readonly TopicSlug[]): unknown {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Location Hazard and Environment Lookup Service',
      version: '1',
      description: 'Hazard ratings, nearby sites and environmental measurements of a US location, metered in credits.',
    },
    // Relative, because the service does not know its public name.
    servers: [{ url: '/', description: 'The service that gives this document.' }],
    security: [{ key: [] }],
    tags: [
      { name: 'lookups', description: 'Answers about a location, for credits.' },
      { name: 'service', description: 'Free of charge, without a key.' },
    ],
    paths: {
      '/v1/{topic}/risk': {
        get: lookup('single', 'One topic', 'SingleEnvelope', [
          {
            name: 'topic',
            in: 'path',
            required: true,
            description: "The topic's slug; the key needs the scope of the same name.",
            schema: { type: 'string', enum: TOPIC_SLUGS },
          },
        ]),
      },
      '/v1/bundle/standard': { get: lookup('standard', 'The natural topics', 'StandardEnvelope') },
      '/v1/bundle/enterprise': { get: lookup('enterprise', 'All topics', 'EnterpriseEnvelope') },
      '/healthz': { get: free('health', 'Whether the service runs, and how many topics it can answer', HEALTH) },
      '/openapi.json': { get: free('openapi', 'This document', { type: 'object' }) },
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: componentSchemas(standardTopics),
      responses: Object.fromEntries(
        Object.entries(FAILURES).map(([status, failure]) => [
          `Failure${status}`,
          { ...failure, content: json(reference('ErrorEnvelope')) },
        ]),
      ),
    },
  };
}

const HEALTH = object({
  status: { const: 'ok' },
  topics: { type: 'integer', minimum: 0, description: 'Topics whose data is loaded.' },
  sample: { type: 'boolean', description: 'Whether any of the data is made up.' },
});

/** The description and the headers of each failure, by status. */
const FAILURES: Readonly<Record<number, JsonSchema>> = {
  400: { description: 'A parameter is missing or wrong.' },
  401: {
    description: 'The key is missing, malformed, revoked or expired.',
    headers: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  },
  403: { description: 'The key lacks the scope.' },
  404: {
    description:
      'UNKNOWN_TOPIC: there is no such topic. NO_DATA: the publisher has nothing on this location, which lasts; nothing is charged.',
  },
  405: {
    description: 'The method is not allowed.',
    headers: { Allow: { required: true, schema: { type: 'string' } } },
  },
  422: { description: 'The location lies outside the US.' },
  429: {
    description:
      'RATE_LIMITED: the credits of this minute are used up; Retry-After says when to ask again. QUOTA_EXCEEDED: the period has fewer credits left than the call costs, and overages are off; a bundle of 35 credits is refused with 34 left.',
    headers: {
      'Retry-After': {
        description: 'Seconds to wait. With RATE_LIMITED only.',
        schema: { type: 'integer', minimum: 1 },
      },
    },
  },
  500: { description: 'A fault of the service.' },
  502: { description: 'The data is not available now.' },
};

function lookup(kind: keyof typeof CREDITS, summary: string, envelope: string, path: unknown[] = []): unknown {
  const integer = (description: string) => ({ description, required: true, schema: { type: 'integer' } });
  return {
    operationId: kind,
    tags: ['lookups'],
    summary,
    description: `Costs ${CREDITS[kind]} on success, nothing on failure.`,
    parameters: [...path, degrees('lat', 90), degrees('lng', 180)],
    responses: {
      200: {
        description: summary,
        headers: {
          [HEADERS.creditCost]: integer('Credits charged; equal to meta.credit_cost.'),
          [HEADERS.rateLimit]: integer('Credits a minute.'),
          [HEADERS.rateRemaining]: integer('Credits left of this minute.'),
          [HEADERS.sampleData]: {
            description: 'Where any of the data is made up; meta.sample_data says the same.',
            schema: { type: 'string', const: 'true' },
          },
          [HEADERS.rateReset]: integer('Seconds until the whole minute is there again.'),
        },
        content: json(reference(envelope)),
      },
      ...Object.fromEntries(
        Object.keys(FAILURES).map((status) => [status, { $ref: `#/components/responses/Failure${status}` }]),
      ),
    },
  };
}

function free(operationId: string, summary: string, schema: JsonSchema): unknown {
  return {
    operationId,
    tags: ['service'],
    summary,
    security: [],
    responses: { 200: { description: summary, content: json(schema) } },
  };
}

function degrees(name: string, bound: number): unknown {
  return {
    name,
    in: 'query',
    required: true,
    description: `Decimal degrees of ${name === 'lat' ? 'latitude' : 'longitude'}.`,
    schema: { type: 'number', minimum: -bound, maximum: bound },
  };
}

function json(schema: JsonSchema): unknown {
  return { 'application/json': { schema } };
}

/** The schemas of all bodies by name: each topic's answer, alone and in a bundle. `value` comes from the schemas that client
 * and service share; `details` describes this service's own, which have more than a client may rely on. */
function componentSchemas(standardTopics: readonly TopicSlug[]): Record<string, JsonSchema> {
  return {
    ErrorEnvelope: makeSchema(errorEnvelope),
    Meta: makeSchema(meta),
    Location: makeSchema(location),
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
        [`${slug}Result`, resultSchema(slug, details)],
        [`${slug}Answer`, answerSchema(slug)],
      ]),
    ),
    SingleEnvelope: envelope({
      oneOf: TOPIC_SLUGS.map((slug) => reference(`${slug}Answer`)),
      discriminator: {
        propertyName: 'topic',
        mapping: Object.fromEntries(TOPIC_SLUGS.map((slug) => [slug, reference(`${slug}Answer`).$ref])),
      },
    }),
    StandardEnvelope: bundleSchema(standardTopics),
    EnterpriseEnvelope: bundleSchema(PAID_SLUGS),
  };
}

function reference(schema: string): { readonly $ref: string } {
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
    properties: object({
      [DISTANCE_PROPERTY]: {
        type: 'integer',
        minimum: 0,
        description: 'Metres from the location to the feature; 0 inside an outline.',
      },
    }),
  },
};

const FEATURES: JsonSchema = { type: 'array', description: 'The nearest first.', items: reference('Feature') };

const NULL = 'Null where the records are not loaded.';

function resultSchema(slug: TopicSlug, details: DetailsKind): JsonSchema {
  const { properties } = makeSchema(RESULT_SCHEMAS.get(slug)!) as { properties: { value: JsonSchema } };
  return object({ value: properties.value, details: detailsSchema(slug, details) });
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
          ['current', 'historical', 'perimeters'].map((list) => [
            list,
            { ...FEATURES, description: within(`wildfire.${list}`) },
          ]),
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
  const topic = { type: 'string', const: slug };
  return object({ topic, location: reference('Location'), result: reference(`${slug}Result`) });
}

function bundleSchema(slugs: readonly TopicSlug[]): JsonSchema {
  const entry = (slug: TopicSlug) => ({ anyOf: [reference(`${slug}Result`), reference('UnavailableTopic')] });
  const topics = object(Object.fromEntries(slugs.map((slug) => [slug, entry(slug)])));
  return envelope(object({ location: reference('Location'), topics }));
}

function envelope(data: JsonSchema): JsonSchema {
  return object({ data, meta: reference('Meta') });
}

/** An object that has all of these members. */
function object(properties: JsonSchema): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function makeSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return rest as JsonSchema;
}
