import { isDecimalNumber } from '../../base/decimal-number.ts';
import { memo } from '../../base/memo.ts';
import { ownMember } from '../../base/own-member.ts';
import { boundedPattern } from '../../contract/layers/bounded-pattern.ts';
import type { FurtherColumn, PolygonLayer } from '../../contract/layers/layer-description.ts';
import type { ZoneValue } from '../../contract/topic-values.ts';
import { isNoValue } from '../tables/no-values.ts';

/* What a description of polygons says of one of them: its class, its place in the order of hazard, its further columns. */

export interface ZoneName {
  /** As published, without spaces around it. */
  readonly code: string;
  /** As published, in words; '' for none. */
  readonly subtype: string;
}

/** A class of zones, and its place in the order of hazard, 0 the most hazardous. */
export interface RankedKind {
  readonly rank: number;
  /** Null for a code that the layer does not know. */
  readonly kind: ZoneKind | null;
}

interface ZoneKind {
  readonly name: string;
  /** Whether it is a special area; null if the agency leaves that open. */
  readonly special: boolean | null;
  /** `none`: looked at, and no zone. `unstudied`: a place in it gets no answer, and is not taken for one outside of the layer. */
  readonly means: 'zone' | 'none' | 'unstudied';
}

/** Of a class without a place in the order: it is looked at after all others. */
const LAST = Number.POSITIVE_INFINITY;

/** The class of a zone. */
export function kindOf(layer: PolygonLayer, name: ZoneName): RankedKind {
  return rankingOf(layer)(name);
}

/** Makes the function that ranks the zones of a layer. */
const rankingOf = memo((layer: PolygonLayer) => {
  const isOneOf = (texts: readonly string[] = []) => {
    const keys = new Set(texts.map(keyOf));
    return (code: string) => keys.has(keyOf(code));
  };
  const isNone = isOneOf(layer.none);
  const isUnstudied = isOneOf(layer.not_studied);
  const { constant } = layer.class ?? {};
  const classes = (layer.classes ?? []).map(({ name, ...of }) => {
    const { values = [name], match, detail, special = null } = { ...NO_MATCH, ...of };
    const fitsValue = match === undefined ? isOneOf(values) : boundedPattern(match, 'whole');
    const fitsDetail = detail === undefined ? () => true : boundedPattern(detail, 'part');
    return {
      kind: { name, special, means: 'zone' as const },
      fits: ({ code, subtype }: ZoneName) => fitsValue(code) && fitsDetail(subtype),
    };
  });
  const unknown = layer.unknown_class ?? 'first';
  const unknownRank =
    typeof unknown === 'object'
      ? classes.findIndex(({ kind }) => kind.name === unknown.after) + 0.5
      : unknown === 'last'
        ? classes.length
        : -1;
  return (name: ZoneName): RankedKind => {
    if (isUnstudied(name.code)) return { rank: LAST, kind: UNSTUDIED };
    if (isNone(name.code)) return { rank: classes.length + 1, kind: NONE };
    const rank = classes.findIndex(({ fits }) => fits(name));
    if (rank >= 0) return { rank, kind: classes[rank]!.kind };
    if (name.code === constant)
      return { rank: 0, kind: { name: constant, special: null, means: 'zone' } };
    return valueIn(layer, name.code) === '' || unknown === 'refuse'
      ? { rank: LAST, kind: UNDESCRIBED }
      : { rank: unknownRank, kind: null };
  };
});

const NO_MATCH: {
  readonly values?: readonly string[];
  readonly match?: string;
  readonly detail?: string;
  readonly special?: boolean | null;
} = {};
const NONE: ZoneKind = { name: 'none', special: null, means: 'none' };
const UNSTUDIED: ZoneKind = { name: '', special: null, means: 'unstudied' };
const UNDESCRIBED: ZoneKind = { ...UNSTUDIED };

/** Whether a class means nothing, as `<Null>`, or is one that the description refuses. */
export function isUndescribed({ kind }: RankedKind): boolean {
  return kind === UNDESCRIBED;
}

/** Two spellings of a value: without case, and a number however it is written. */
function keyOf(text: string): string {
  const plain = text.trim().toLowerCase();
  return /^[-+]?\d+(\.\d*)?$/.test(plain) ? String(Number(plain)) : plain;
}

/** A subtype in words: some files write it as a code. */
export function subtypeOf({ class: own }: PolygonLayer, published: string): string {
  return ownMember(own?.detail_words ?? {}, published) ?? published;
}

/** What is stored of a zone besides its name: the published flag and the further columns, numbers in the description's unit. */
export interface StoredFacts {
  readonly special: string;
  readonly facts: ZoneValue['facts'];
  /** The unit of its numbers where the file states none. */
  readonly assumed?: string;
  /** Of a table: the code of its county or tract. */
  readonly area?: string;
  /** The day of its outline, where the newest of several counts; '' for none. */
  readonly newest?: string;
}

/** What became of a number: it is none, beyond its range or in a unit that is not known, and so no value; or its unit is assumed. */
export interface NumberRemark {
  readonly column: string;
  readonly about: 'no number' | 'range' | 'unknown unit' | 'assumed unit';
}

/** A text of a feature, '' where it means nothing. */
export function valueIn({ nothing = [] }: Pick<PolygonLayer, 'nothing'>, text: string): string {
  const isNothing = isNoValue(text) || nothing.some((none) => keyOf(none) === keyOf(text));
  return isNothing ? '' : text;
}

/** Reads the flag and the further columns of a feature. @param textOf reads a property as text, '' for none
 * @param onRemark gets what is to be told of its numbers */
export function storedFacts(
  layer: Pick<PolygonLayer, 'class' | 'columns' | 'nothing'>,
  textOf: (columns: readonly string[]) => string,
  onRemark: (remark: NumberRemark) => void = () => {},
): StoredFacts {
  const { columns = {} } = layer;
  const readText = (from: readonly string[]) => valueIn(layer, textOf(from));
  let assumed: string | undefined;
  const facts: Record<string, number | string | null> = {};
  // Numbers first: a text may stand beside one.
  for (const [name, column] of Object.entries(columns)) {
    if (column.type === 'text') continue;
    const unit = readText(column.unit?.from ?? []);
    facts[name] = measured(column, readText(column.from), unit, (about) => {
      if (about === 'assumed unit') assumed = column.unit?.assumed;
      onRemark({ column: name, about });
    });
  }
  for (const [name, { type, from, beside }] of Object.entries(columns)) {
    if (beside !== undefined && (ownMember(facts, beside) ?? null) === null) facts[name] = null;
    else if (type === 'text') facts[name] = readText(from) || null;
  }
  return {
    special: layer.class?.special === undefined ? '' : textOf(layer.class.special.from),
    facts,
    ...(assumed === undefined ? {} : { assumed }),
  };
}

/** A number, in the description's unit where it has one; null for none. */
function measured(
  { type, unit, least = -Infinity, most = Infinity }: FurtherColumn,
  text: string,
  stated: string,
  onRemark: (about: NumberRemark['about']) => void,
): number | null {
  if (text === '') return null;
  const number = isDecimalNumber(text) ? Number(text) + 0 : Number.NaN;
  if (!Number.isFinite(number) || (type === 'count' && !Number.isSafeInteger(number))) {
    onRemark('no number');
    return null;
  }
  const factor = unit === undefined ? 1 : factorOf(unit, stated);
  if (factor === null) {
    onRemark('unknown unit');
    return null;
  }
  const value = unit === undefined ? number : rounded(number * factor);
  if (value < least || value > most) {
    onRemark('range');
    return null;
  }
  if (unit !== undefined && stated === '') onRemark('assumed unit');
  return value;
}

/** A converted number: with two decimals, and at least three digits, so that a small one does not become 0. */
function rounded(value: number): number {
  const magnitude = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  return Number(value.toFixed(Math.min(100, Math.max(2, 2 - magnitude)))) + 0;
}

function factorOf(
  { factors, assumed }: NonNullable<FurtherColumn['unit']>,
  stated: string,
): number | null {
  const wanted = (stated || (assumed ?? '')).toLowerCase();
  const found = Object.entries(factors).find(([name]) => name.toLowerCase() === wanted);
  return found?.[1] ?? null;
}

/** Whether a zone is a special area: by its code, unless the flag contradicts it; of an unknown code, by the flag. Null where it is open. */
export function specialAreaOf(
  { class: own }: PolygonLayer,
  { kind }: RankedKind,
  flag: string,
): boolean | null {
  const { yes = [], no = [], open = [] } = own?.special ?? {};
  if (open.includes(flag)) return null;
  const flagged = yes.includes(flag) ? true : no.includes(flag) ? false : null;
  if (kind === null) return flagged;
  return kind.special === null || (flagged !== null && flagged !== kind.special)
    ? null
    : kind.special;
}

/** What the output shows of a zone's class. */
export function shownClass(layer: PolygonLayer, { kind }: RankedKind, code: string): string {
  return kind === null || (kind.means === 'zone' && layer.class?.show === 'published')
    ? code
    : kind.name;
}

/** The columns of the layer's file that are read: of its zones, and of its sheets. */
export function fieldsOf({ class: own, columns = {}, study = [], sheets }: PolygonLayer): {
  readonly zones: string[];
  readonly sheets: string[];
} {
  const further = Object.values(columns).flatMap(({ from }) => from);
  const ofClass = [own?.from, own?.detail, own?.special?.from].flatMap((names) => names ?? []);
  return {
    zones: [...new Set([...study, ...ofClass, ...further])],
    sheets:
      sheets === undefined
        ? []
        : [...study, ...sheets.code, ...sheets.effective, ...(sheets.preliminary ?? [])],
  };
}
