import type { ZoneValue } from '../../contract/topic-values.ts';
import type { ZoneSlug } from '../../contract/topics.ts';

/* A layer of zones: polygons of an agency's map, each with a code. A layer is a description; loader, tables, look-up and columns read it. */

/** Within so many metres the nearest other zone is told. */
export const BOUNDARY_METERS = 100;

interface ZoneKind {
  /** Matches the whole code. */
  readonly code: RegExp;
  /** Matches a part of the subtype; left out for any. */
  readonly subtype?: RegExp;
  /** Whether it is a special area; null if the agency leaves that open. */
  readonly special: boolean | null;
  /** The agency did not study the area: a place in it gets no zone. */
  readonly isUnstudied?: true;
}

type FactField =
  | { readonly as: 'number'; readonly field: string; readonly unit: string }
  /** A text that means something only beside a number. */
  | { readonly as: 'text'; readonly field: string; readonly beside: string };

export interface ZoneLayer {
  readonly topic: ZoneSlug;
  readonly zones: {
    /** The field with the study's id, which begins with the two digits of its state. */
    readonly study: string;
    readonly code: string;
    readonly subtype: string;
    readonly special: { readonly field: string; readonly yes: string; readonly no: string };
    /** By the names of `ZONE_FACTS`. */
    readonly facts: Readonly<Record<string, FactField>>;
  };
  readonly panels: { readonly study: string; readonly code: string; readonly effective: string };
  /** Numbers that stand for none. */
  readonly none: readonly number[];
  /** What a number is multiplied by, by its unit in lower case. */
  readonly units: Readonly<Record<string, number>>;
  /** The words of subtypes that older files write as codes. */
  readonly subtypes: Readonly<Record<string, string>>;
  /** From the most hazardous to the least; the first that matches a zone is its kind. */
  readonly kinds: readonly ZoneKind[];
  /** The rank in `kinds` of a code that matches none: such a code is not taken for safe. */
  readonly unknownCodesFrom: number;
}

export interface ZoneName {
  /** As published, without spaces around it. */
  readonly code: string;
  /** As published, in words; '' for none. */
  readonly subtype: string;
}

/** A zone's kind, and its place in the order of hazard, 0 the most hazardous. */
export interface RankedKind {
  readonly rank: number;
  readonly kind: Omit<ZoneKind, 'code' | 'subtype'> | null;
}

/** The kind of a zone; null for a code that the layer does not know. */
export function kindOf(
  { kinds, unknownCodesFrom }: ZoneLayer,
  { code, subtype }: ZoneName,
): RankedKind {
  const [zone, words] = [code.toUpperCase(), subtype.toUpperCase()];
  const rank = kinds.findIndex(
    (kind) => kind.code.test(zone) && (kind.subtype?.test(words) ?? true),
  );
  return rank < 0 ? { rank: unknownCodesFrom - 0.5, kind: null } : { rank, kind: kinds[rank]! };
}

/** A subtype in words: older files have four digits, some with the sign that databases reserve. */
export function subtypeOf({ subtypes }: ZoneLayer, published: string): string {
  return subtypes[published] ?? published;
}

/** What is stored of a zone besides its name: the published flag and facts, with numbers in the layer's own unit. */
export interface StoredFacts {
  readonly special: string;
  readonly facts: ZoneValue['facts'];
}

/** Reads the flag and the facts of a feature. @param textOf reads a property as text, '' for none */
export function storedFacts(layer: ZoneLayer, textOf: (field: string) => string): StoredFacts {
  const { special, facts: fields } = layer.zones;
  const facts: Record<string, number | string | null> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.as === 'number')
      facts[name] = measured(layer, textOf(field.field), textOf(field.unit));
  }
  for (const [name, field] of Object.entries(fields)) {
    if (field.as === 'text')
      facts[name] = facts[field.beside] === null ? null : textOf(field.field) || null;
  }
  return { special: textOf(special.field), facts };
}

/** A number in the layer's unit, with two decimals; null for none, or in a unit that is not stated. */
function measured({ none, units }: ZoneLayer, text: string, unit: string): number | null {
  const number = text === '' ? Number.NaN : Number(text);
  const factor = units[unit.toLowerCase()];
  if (!Number.isFinite(number) || none.includes(number) || factor === undefined) return null;
  return Math.round(number * factor * 100) / 100 + 0;
}

/** Whether a zone is a special area: by its code, unless the flag contradicts it; of an unknown code, by the flag. Null where it is open. */
export function specialAreaOf(
  { zones: { special } }: ZoneLayer,
  { kind }: RankedKind,
  flag: string,
): boolean | null {
  const flagged = flag === special.yes ? true : flag === special.no ? false : null;
  if (kind === null) return flagged;
  return kind.special === null || (flagged !== null && flagged !== kind.special)
    ? null
    : kind.special;
}

/** The fields of a layer, of its zones and of its panels. */
export function fieldsOf({ zones, panels }: ZoneLayer): {
  readonly zones: string[];
  readonly panels: string[];
} {
  const facts = Object.values(zones.facts).flatMap((field) =>
    field.as === 'number' ? [field.field, field.unit] : [field.field],
  );
  return {
    zones: [...new Set([zones.study, zones.code, zones.subtype, zones.special.field, ...facts])],
    panels: [panels.study, panels.code, panels.effective],
  };
}
