import { TOPIC_SLUGS } from '../../src/contract/topics.ts';

export const BUNDLE_KINDS = ['standard', 'enterprise'] as const;

/** Every endpoint of the service that costs credits, and the scope that opens it. */
export function callsOfEndpoints(): { readonly path: string; readonly scope: string }[] {
  return [
    ...TOPIC_SLUGS.map((topic) => ({ path: `/v1/${topic}/risk`, scope: topic })),
    ...BUNDLE_KINDS.map((kind) => ({ path: `/v1/bundle/${kind}`, scope: 'bundle' })),
  ];
}
