import type { TopicSlug } from './topics.ts';

export type CallKind = 'single' | 'standard' | 'enterprise';

/** A call that answers many topics at once. */
export type BundleKind = Exclude<CallKind, 'single'>;

/** The cheaper one first. */
export const BUNDLE_KINDS = ['standard', 'enterprise'] as const satisfies readonly BundleKind[];

export const CALL_KINDS = ['single', ...BUNDLE_KINDS] as const satisfies readonly CallKind[];

/** `single call`, `standard bundle`, `enterprise bundle`: for messages. */
export function callName(kind: CallKind): string {
  return `${kind} ${kind === 'single' ? 'call' : 'bundle'}`;
}

/** The credits of a successful call by its kind, as the contract states them. */
export type Prices = Readonly<Record<CallKind, number>>;

/** The contract's prices (docs/developer/service-api.md, 2.1 to 2.3). */
export const CREDITS: Prices = { single: 1, standard: 15, enterprise: 35 };

/** One HTTP request that can be bought: a single topic, or one of the two bundles. */
export type Call =
  | { readonly kind: 'single'; readonly topic: TopicSlug }
  | { readonly kind: 'standard' }
  | { readonly kind: 'enterprise' };

/** The contract's price of a call. */
export function contractPrice({ kind }: Call): number {
  return CREDITS[kind];
}

/** What has a price of its own: a bundle, or the single of a topic. */
export type PriceItem = BundleKind | TopicSlug;

/** What the price of a call is a price of: its bundle, or its topic. */
export function priceItemOf(call: Call): PriceItem {
  return call.kind === 'single' ? call.topic : call.kind;
}

/** The call that buys an item. */
export function callOfItem(item: PriceItem): Call {
  return item === 'standard' || item === 'enterprise'
    ? { kind: item as BundleKind }
    : { kind: 'single', topic: item };
}

/** `standard bundle`, `single call of hail`: for messages. */
export function priceItemName(call: Call): string {
  return call.kind === 'single' ? `single call of ${call.topic}` : callName(call.kind);
}

/** The scope that a key needs for a call: the topic's slug, or `bundle` (docs/developer/service-api.md, 5.2). */
export function scopeOf(call: Call): Scope {
  return call.kind === 'single' ? call.topic : 'bundle';
}

export type Scope = 'bundle' | TopicSlug;

/** Path and query of a call, relative to the base address. Coordinates are decimals without an exponent. */
export function formatPath(call: Call, lat: number, lng: number): string {
  const path = call.kind === 'single' ? `/v1/${call.topic}/risk` : `/v1/bundle/${call.kind}`;
  return `${path}?lat=${decimal(lat)}&lng=${decimal(lng)}`;
}

function decimal(degrees: number): string {
  return degrees
    .toFixed(7)
    .replace(/\.?0+$/, '')
    .replace(/^-0$/, '0');
}
