import { CREDITS } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { componentSchemas, type JsonSchema, reference } from './openapi-schemas.ts';

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
      responses: Object.fromEntries(FAILURES.map(({ status, ...failure }) => [nameOf(status), response(failure)])),
    },
  };
}

const HEALTH: JsonSchema = {
  type: 'object',
  required: ['status', 'topics', 'sample'],
  properties: {
    status: { const: 'ok' },
    topics: { type: 'integer', minimum: 0, description: 'Topics whose data is loaded.' },
    sample: { type: 'boolean', description: 'Whether any of the data is made up.' },
  },
};

interface FailureResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, JsonSchema>>;
}

const WHEN: Readonly<Record<number, FailureResponse>> = {
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
      'RATE_LIMITED: the credits of this minute are used up, or the address has sent too many unknown keys; Retry-After says when to ask again. QUOTA_EXCEEDED: the period has fewer credits left than the call costs, and overages are off; a bundle of 35 credits is refused with 34 left.',
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

const FAILURES = Object.entries(WHEN).map(([status, failure]) => ({ status: Number(status), ...failure }));

/** `429` as `Failure429`. */
function nameOf(status: number): string {
  return `Failure${status}`;
}

function response({ description, headers }: FailureResponse): unknown {
  return { description, ...(headers === undefined ? {} : { headers }), content: json(reference('ErrorEnvelope')) };
}

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
        FAILURES.map(({ status }) => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
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
