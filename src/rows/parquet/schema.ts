import { booleanAt, Damage, numberAt, structAt, type ThriftStruct, textAt } from './thrift.ts';

/** The physical types, in the order of their numbers. */
export const PHYSICAL_TYPES = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type PhysicalType = (typeof PHYSICAL_TYPES)[number];

/** A value as it is stored. INT96 comes as one number of 96 bits. */
export type StoredValue = boolean | number | bigint | Uint8Array;

/** What the values of a column mean, beyond how they are stored. */
export type Meaning =
  | { readonly kind: PlainKind }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'time' | 'timestamp'; readonly digits: 3 | 6 | 9; readonly utc: boolean }
  | { readonly kind: 'geometry'; readonly crs: string | null };

type PlainKind = 'stored' | 'text' | 'unsigned' | 'date' | 'uuid' | 'float16' | 'interval' | 'list' | 'map';

/** A field of the schema with its children. */
export interface SchemaNode {
  readonly name: string;
  readonly repetition: 'required' | 'optional' | 'repeated';
  readonly meaning: Meaning;
  /** The largest definition and repetition levels of an entry of this field. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  readonly children: readonly SchemaNode[];
  /** For a field with values: how they are stored, and the index of their column in a row group. */
  readonly leaf: Leaf | null;
  /** The range of the schema's elements that make up this field. */
  readonly from: number;
  readonly to: number;
}

export interface Leaf {
  readonly index: number;
  readonly type: PhysicalType;
  /** The bytes of a value of fixed length; 0 for other types. */
  readonly typeLength: number;
}

const REPETITIONS = ['required', 'optional', 'repeated'] as const;
const DEEPEST = 60;

/** Makes the tree of a schema that is stored as a list. @throws Damage */
export function readSchema(elements: readonly ThriftStruct[]): { root: SchemaNode; leaves: readonly SchemaNode[] } {
  const leaves: SchemaNode[] = [];
  const root = readNode(elements, 0, { definition: 0, repetition: 0, depth: 0 }, leaves);
  if (root.to !== elements.length) throw new Damage('its schema has fields without a parent');
  return { root, leaves };
}

interface Levels {
  readonly definition: number;
  readonly repetition: number;
  readonly depth: number;
}

function readNode(elements: readonly ThriftStruct[], from: number, above: Levels, leaves: SchemaNode[]): SchemaNode {
  const element = elements[from];
  if (!element) throw new Damage('its schema has fewer fields than it states');
  if (above.depth > DEEPEST) throw new Damage('its schema is nested too deeply');
  const isRoot = from === 0;
  const repetition = isRoot ? 'required' : REPETITIONS[numberAt(element, 3) ?? 0];
  if (!repetition) throw new Damage(`its schema has the unknown repetition ${numberAt(element, 3)}`);
  const levels: Levels = {
    definition: above.definition + (repetition === 'required' ? 0 : 1),
    repetition: above.repetition + (repetition === 'repeated' ? 1 : 0),
    depth: above.depth + 1,
  };
  const common = {
    name: textAt(element, 4) ?? '',
    repetition,
    meaning: readMeaning(element),
    maxDefinition: levels.definition,
    maxRepetition: levels.repetition,
    from,
  };
  const childCount = numberAt(element, 5) ?? 0;
  const typeNumber = numberAt(element, 1);
  if (!isRoot && childCount === 0 && typeNumber !== undefined) {
    const type = PHYSICAL_TYPES[typeNumber];
    if (!type) throw new Damage(`column ${common.name} has the unknown type ${typeNumber}`);
    const typeLength = type === 'FIXED_LEN_BYTE_ARRAY' ? (numberAt(element, 2) ?? 0) : 0;
    if (typeLength < 0) throw new Damage(`the values of column ${common.name} have a negative length`);
    const leaf = { index: leaves.length, type, typeLength };
    const node: SchemaNode = { ...common, children: [], leaf, to: from + 1 };
    leaves.push(node);
    return node;
  }
  if (childCount < 0 || childCount > elements.length) throw new Damage('its schema states fields that are missing');
  const children: SchemaNode[] = [];
  let to = from + 1;
  for (let i = 0; i < childCount; i++) {
    const child = readNode(elements, to, levels, leaves);
    children.push(child);
    to = child.to;
  }
  return { ...common, children, leaf: null, to };
}

/** The logical types without parameters, by their numbers. */
const LOGICAL: Readonly<Record<number, PlainKind>> = {
  1: 'text',
  2: 'map',
  3: 'list',
  4: 'text',
  6: 'date',
  12: 'text',
  14: 'uuid',
  15: 'float16',
};

/** The converted types without parameters, by their numbers. */
const CONVERTED: Readonly<Record<number, PlainKind>> = {
  0: 'text',
  1: 'map',
  2: 'map',
  3: 'list',
  4: 'text',
  6: 'date',
  19: 'text',
  21: 'interval',
  11: 'unsigned',
  12: 'unsigned',
  13: 'unsigned',
  14: 'unsigned',
};

const UNIT_DIGITS: Readonly<Record<number, 3 | 6 | 9>> = { 1: 3, 2: 6, 3: 9 };

/** The logical type decides; older writers give only a converted type. */
function readMeaning(element: ThriftStruct): Meaning {
  const logical = structAt(element, 10)?.fields[0];
  const detail = logical && 'fields' in (logical.value as object) ? (logical.value as ThriftStruct) : { fields: [] };
  switch (logical?.id) {
    case 5:
      return decimal(numberAt(detail, 1));
    case 7:
    case 8: {
      const digits = UNIT_DIGITS[structAt(detail, 2)?.fields[0]?.id ?? 0] ?? 6;
      return { kind: logical.id === 7 ? 'time' : 'timestamp', digits, utc: booleanAt(detail, 1) ?? false };
    }
    case 10:
      return { kind: booleanAt(detail, 2) === false ? 'unsigned' : 'stored' };
    case 17:
    case 18:
      return { kind: 'geometry', crs: textAt(detail, 1) ?? null };
    default: {
      const kind = LOGICAL[logical?.id ?? 0];
      return kind ? { kind } : convertedMeaning(element);
    }
  }
}

function convertedMeaning(element: ThriftStruct): Meaning {
  const type = numberAt(element, 6) ?? -1;
  if (type === 5) return decimal(numberAt(element, 7));
  if (type === 7 || type === 8) return { kind: 'time', digits: type === 7 ? 3 : 6, utc: true };
  if (type === 9 || type === 10) return { kind: 'timestamp', digits: type === 9 ? 3 : 6, utc: true };
  return { kind: CONVERTED[type] ?? 'stored' };
}

function decimal(scale = 0): Meaning {
  if (scale < 0 || scale > 1000) throw new Damage(`its schema has a decimal of ${scale} places`);
  return { kind: 'decimal', scale };
}
