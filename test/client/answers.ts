import { hash } from 'node:crypto';
import { parseContent } from '../../src/client/content.ts';
import type { Exchange, Received } from '../../src/client/exchange.ts';
import { makeRedactor } from '../../src/client/redact.ts';
import { type Verdict, findVerdict as verdictKeeping } from '../../src/client/verdict.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import { AIR_QUALITY_DAYS, CONCENTRATION_UNIT } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS, PAID_SLUGS, type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import type { Location } from '../../src/geo/coordinates.ts';

export const PLACE: Location = { lat: 34.0522, lng: -118.2437 };
export const NOW = Date.UTC(2026, 0, 15, 12);
export const REQUEST_ID = '6b1b36cb-9a3c-4d7e-8a53-3f0a2d4c8f10';

export const WILDFIRE: Call = { kind: 'single', topic: 'wildfire' };
export const STANDARD: Call = { kind: 'standard' };
export const ENTERPRISE: Call = { kind: 'enterprise' };

/** A result as the contract promises it. */
export function resultOf(topic: TopicSlug): { value: unknown; details: unknown } {
  const { category, title } = topicOf(topic);
  if (category === 'natural') {
    return {
      value: { title, rating: 'Relatively Low', score: 12.5, frequency: 0.01 },
      details: null,
    };
  }
  if (category === 'proximity')
    return { value: 0, details: { type: 'FeatureCollection', features: [] } };
  if (topic === 'airQuality') {
    const additionalInfo = Object.fromEntries(AIR_QUALITY_DAYS.map((name) => [name, 1]));
    return { value: { metric: 'Good', progressValue: 3, additionalInfo }, details: null };
  }
  if (topic === 'radon') {
    return {
      value: { title: 'Zone', value: 'Zone 2', caption: 'Moderate', description: 'Test.' },
      details: null,
    };
  }
  if (topic === 'floodZone') {
    const unstated = { panel: null, effective: null, boundaryMeters: null };
    return {
      value: { zone: 'AE', subtype: null, specialArea: true, facts: { depthFt: 2 }, ...unstated },
      details: null,
    };
  }
  const measurement = { value: 8.1, unit: CONCENTRATION_UNIT };
  return {
    value: { measurement, rating: 'Good', timestamp: '2026-01-15T11:00:00Z' },
    details: null,
  };
}

/** The envelope of a call, as the contract promises it. */
export function envelopeOf(call: Call, location: Location = PLACE) {
  const meta = {
    request_id: REQUEST_ID,
    timestamp: '2026-01-15T12:00:00.000Z',
    credit_cost: CREDITS[call.kind],
  };
  if (call.kind === 'single') {
    return { data: { topic: call.topic, location, result: resultOf(call.topic) }, meta };
  }
  const slugs = call.kind === 'standard' ? NATURAL_SLUGS : PAID_SLUGS;
  const topics: Record<string, unknown> = Object.fromEntries(
    slugs.map((slug) => [slug, resultOf(slug)]),
  );
  return { data: { location, topics }, meta };
}

/** An exchange with this body; text and bytes go as they are, anything else as JSON. */
export function received(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Received {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const content = parseContent(bytes, makeRedactor([]));
  const digest = () => hash('sha1', bytes);
  return { kind: 'response', status, headers, content, bytes: bytes.length, digest, elapsedMs: 1 };
}

/** The verdict with whole results in place of their fields. */
export function findVerdict(
  exchange: Exchange,
  call: Call,
  location: Location,
  now: number,
  price = CREDITS[call.kind],
): Verdict {
  return verdictKeeping(exchange, { call, price }, location, now, (_, result) => result as never);
}
