import { z } from 'zod';
import { type CallKind, CREDITS } from '../../contract/credits.ts';
import {
  errorEnvelope,
  location,
  meta,
  NO_DATA_REASON,
  SERVICE_FAILURES,
  UNAVAILABLE,
} from '../../contract/envelopes.ts';
import { HEADERS } from '../../contract/headers.ts';
import { resultSchemaOf } from '../../contract/topic-values.ts';
import { PAID_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';

/** The description of the service as OpenAPI 3.1. Its bodies are the schemas that client and service share. */
export function openApiDocument(standardTopics: readonly TopicSlug[]): unknown {
  const topic = parameter(
    'topic',
    'path',
    z.enum(TOPIC_SLUGS),
    'The key needs the scope of the same name.',
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Location Hazard and Environment Lookup Service',
      version: '1',
      description:
        'Hazard ratings, nearby sites and environmental measurements of a US location, metered in credits.',
    },
    // Relative, because the service does not know its public name.
    servers: [{ url: '/', description: 'The service that gives this document.' }],
    security: [{ key: [] }],
    paths: {
      '/v1/{topic}/risk': { get: lookup('single', 'One topic', singleEnvelope(), [topic]) },
      '/v1/bundle/standard': {
        get: lookup('standard', 'The natural topics', bundleEnvelope(standardTopics)),
      },
      '/v1/bundle/enterprise': {
        get: lookup('enterprise', 'All topics', bundleEnvelope(PAID_SLUGS)),
      },
      '/healthz': {
        get: describeFree(
          'health',
          'Whether the service runs, and how many topics it can answer',
          HEALTH,
        ),
      },
      '/openapi.json': { get: describeFree('openapi', 'This document', z.looseObject({})) },
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      responses: Object.fromEntries(
        FAILURES.map(({ status, codes }) => [
          `Failure${status}`,
          response(codes.join(', '), errorEnvelope),
        ]),
      ),
    },
  };
}

/** The codes of each status of a failure. */
const FAILURES = [...new Set(Object.values(SERVICE_FAILURES))].map((status) => ({
  status,
  codes: Object.entries(SERVICE_FAILURES).flatMap(([code, its]) => (its === status ? [code] : [])),
}));

const HEALTH = z.looseObject({
  status: z.literal('ok'),
  topics: z.int().nonnegative().describe('Topics whose data is loaded.'),
  sample: z.boolean().describe('Whether any of the data is made up.'),
});

function singleEnvelope(): z.ZodType {
  const answers = TOPIC_SLUGS.map((slug) =>
    z.looseObject({ topic: z.literal(slug), location, result: resultSchemaOf(slug) }),
  );
  return z.looseObject({ data: z.union(answers), meta });
}

function bundleEnvelope(slugs: readonly TopicSlug[]): z.ZodType {
  const unavailable = z.looseObject({
    error: z.literal(UNAVAILABLE),
    reason: z
      .literal(NO_DATA_REASON)
      .optional()
      .describe('The publisher has nothing on this location, which lasts.'),
  });
  const entries = slugs.map((slug) => [slug, z.union([resultSchemaOf(slug), unavailable])]);
  return z.looseObject({
    data: z.looseObject({ location, topics: z.looseObject(Object.fromEntries(entries)) }),
    meta,
  });
}

function lookup(
  kind: CallKind,
  summary: string,
  envelope: z.ZodType,
  path: readonly unknown[] = [],
): unknown {
  const headers = [HEADERS.creditCost, HEADERS.rateLimit, HEADERS.rateRemaining, HEADERS.rateReset];
  const integers = headers.map((name) => [name, { required: true, schema: { type: 'integer' } }]);
  const failures = FAILURES.map(({ status }) => [
    status,
    { $ref: `#/components/responses/Failure${status}` },
  ]);
  return {
    operationId: kind,
    summary,
    description: `Costs ${CREDITS[kind]} on success, nothing on failure.`,
    parameters: [...path, degrees('lat', 90), degrees('lng', 180)],
    responses: {
      200: { ...response(summary, envelope), headers: Object.fromEntries(integers) },
      ...Object.fromEntries(failures),
    },
  };
}

function describeFree(operationId: string, summary: string, body: z.ZodType): unknown {
  return { operationId, summary, security: [], responses: { 200: response(summary, body) } };
}

function response(description: string, body: z.ZodType) {
  return { description, content: { 'application/json': { schema: jsonSchema(body) } } };
}

function degrees(name: string, bound: number): unknown {
  return parameter(name, 'query', z.number().min(-bound).max(bound), 'Decimal degrees.');
}

function parameter(
  name: string,
  place: 'path' | 'query',
  schema: z.ZodType,
  description: string,
): unknown {
  return { name, in: place, required: true, description, schema: jsonSchema(schema) };
}

function jsonSchema(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
}
