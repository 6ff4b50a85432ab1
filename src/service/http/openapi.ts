import { z } from 'zod';
import { CREDITS } from '../../contract/credits.ts';
import { bundleEnvelope, errorEnvelope, singleEnvelope } from '../../contract/envelopes.ts';
import { HEADERS } from '../../contract/headers.ts';
import { TOPIC_SLUGS, TOPICS } from '../../contract/topics.ts';
import { RESULT_SCHEMAS } from '../../contract/values.ts';

/** The description of the service as OpenAPI 3.1, made from the schemas that both sides check against. */
export function openApiDocument(): unknown {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Location Hazard and Environment Lookup Service',
      version: '1',
      description: 'Hazard ratings, nearby sites and environmental measurements of a US location, metered in credits.',
    },
    security: [{ key: [] }],
    paths: {
      '/v1/{topic}/risk': {
        get: operation('single', 'One topic', 'SingleEnvelope', [
          { name: 'topic', in: 'path', required: true, schema: { type: 'string', enum: TOPIC_SLUGS } },
        ]),
      },
      '/v1/bundle/standard': { get: operation('standard', 'The natural topics', 'BundleEnvelope') },
      '/v1/bundle/enterprise': { get: operation('enterprise', 'All topics', 'BundleEnvelope') },
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: {
        SingleEnvelope: schemaOf(singleEnvelope),
        BundleEnvelope: schemaOf(bundleEnvelope),
        ErrorEnvelope: schemaOf(errorEnvelope),
        ...Object.fromEntries(TOPICS.map(({ slug }) => [`${slug}Result`, schemaOf(RESULT_SCHEMAS.get(slug)!)])),
      },
    },
  };
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'Invalid parameter',
  401: 'Missing, malformed, revoked or expired key',
  403: 'The key lacks the scope',
  404: 'Unknown topic',
  422: 'The location lies outside the US',
  429: 'Quota or minute used up',
  502: 'The data is not available',
};

function operation(kind: keyof typeof CREDITS, summary: string, envelope: string, path: unknown[] = []): unknown {
  return {
    operationId: kind,
    summary,
    description: `Costs ${CREDITS[kind]} on success, nothing on failure.`,
    parameters: [...path, degrees('lat', 90), degrees('lng', 180)],
    responses: {
      200: {
        description: summary,
        headers: Object.fromEntries(
          [HEADERS.creditCost, HEADERS.rateLimit, HEADERS.rateRemaining, HEADERS.rateReset].map((name) => [
            name,
            { schema: { type: 'integer' } },
          ]),
        ),
        content: json(envelope),
      },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: json('ErrorEnvelope') },
        ]),
      ),
    },
  };
}

function degrees(name: string, bound: number): unknown {
  return { name, in: 'query', required: true, schema: { type: 'number', minimum: -bound, maximum: bound } };
}

function json(schema: string): unknown {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function schemaOf(schema: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return rest;
}
