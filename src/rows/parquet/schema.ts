import {
  CONVERTED,
  DECIMAL,
  ELEMENT,
  GEOMETRY,
  INTEGER,
  LOGICAL,
  MOMENT,
  PHYSICAL_TYPES,
  type PhysicalType,
  REPETITIONS,
  UNITS,
} from './format.ts';
import { Damage, makeStruct, type ThriftStruct } from './thrift.ts';

/** A value as it is stored. INT96 comes as one number of 96 bits. */
export type StoredValue = boolean | number | bigint | Uint8Array;

/** What the values of a column mean, beyond how they are stored. */
export type Meaning =
  | { readonly kind: PlainKind }
  | { readonly kind: 'decimal'; readonly scale: number }
  | { readonly kind: 'time' | 'timestamp'; readonly digits: 3 | 6 | 9; readonly utc: boolean }
  | { readonly kind: 'geometry'; readonly crs: string | null };

type PlainKind =
  | 'stored'
  | 'text'
  | 'unsigned'
  | 'date'
  | 'uuid'
  | 'float16'
  | 'interval'
  | 'list'
  | 'map';

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

const DEEPEST = 60;

/** Makes the tree of a schema that is stored as a list. @throws Damage */
export function readSchema(elements: readonly ThriftStruct[]): {
  root: SchemaNode;
  leaves: readonly SchemaNode[];
} {
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

function readNode(
  elements: readonly ThriftStruct[],
  from: number,
  above: Levels,
  leaves: SchemaNode[],
): SchemaNode {
  const element = elements[from];
  if (!element) throw new Damage('its schema has fewer fields than it states');
  if (above.depth > DEEPEST) throw new Damage('its schema is nested too deeply');
  const isRoot = from === 0;
  const repetition = isRoot ? 'required' : REPETITIONS[ELEMENT.repetition.read(element) ?? 0];
  if (!repetition)
    throw new Damage(`its schema has the unknown repetition ${ELEMENT.repetition.read(element)}`);
  const levels: Levels = {
    definition: above.definition + (repetition === 'required' ? 0 : 1),
    repetition: above.repetition + (repetition === 'repeated' ? 1 : 0),
    depth: above.depth + 1,
  };
  const common = {
    name: ELEMENT.name.read(element) ?? '',
    repetition,
    meaning: readMeaning(element),
    maxDefinition: levels.definition,
    maxRepetition: levels.repetition,
    from,
  };
  const childCount = ELEMENT.children.read(element) ?? 0;
  const typeNumber = ELEMENT.type.read(element);
  if (!isRoot && childCount === 0 && typeNumber !== undefined) {
    const type = PHYSICAL_TYPES[typeNumber];
    if (!type) throw new Damage(`column ${common.name} has the unknown type ${typeNumber}`);
    const typeLength =
      type === 'FIXED_LEN_BYTE_ARRAY' ? (ELEMENT.typeLength.read(element) ?? 0) : 0;
    if (typeLength < 0)
      throw new Damage(`the values of column ${common.name} have a negative length`);
    const leaf = { index: leaves.length, type, typeLength };
    const node: SchemaNode = { ...common, children: [], leaf, to: from + 1 };
    leaves.push(node);
    return node;
  }
  if (childCount < 0 || childCount > elements.length)
    throw new Damage('its schema states fields that are missing');
  const children: SchemaNode[] = [];
  let to = from + 1;
  for (let i = 0; i < childCount; i++) {
    const child = readNode(elements, to, levels, leaves);
    children.push(child);
    to = child.to;
  }
  return { ...common, children, leaf: null, to };
}

/** The annotations without parameters. */
const LOGICAL_MEANINGS: Readonly<Record<number, PlainKind>> = {
  [LOGICAL.text]: 'text',
  [LOGICAL.enum]: 'text',
  [LOGICAL.json]: 'text',
  [LOGICAL.map]: 'map',
  [LOGICAL.list]: 'list',
  [LOGICAL.date]: 'date',
  [LOGICAL.uuid]: 'uuid',
  [LOGICAL.float16]: 'float16',
};

const CONVERTED_MEANINGS: Readonly<Record<number, Meaning>> = {
  [CONVERTED.text]: { kind: 'text' },
  [CONVERTED.enum]: { kind: 'text' },
  [CONVERTED.json]: { kind: 'text' },
  [CONVERTED.map]: { kind: 'map' },
  [CONVERTED.mapEntries]: { kind: 'map' },
  [CONVERTED.list]: { kind: 'list' },
  [CONVERTED.date]: { kind: 'date' },
  [CONVERTED.timeMillis]: { kind: 'time', digits: 3, utc: true },
  [CONVERTED.timeMicros]: { kind: 'time', digits: 6, utc: true },
  [CONVERTED.timestampMillis]: { kind: 'timestamp', digits: 3, utc: true },
  [CONVERTED.timestampMicros]: { kind: 'timestamp', digits: 6, utc: true },
  [CONVERTED.uint8]: { kind: 'unsigned' },
  [CONVERTED.uint16]: { kind: 'unsigned' },
  [CONVERTED.uint32]: { kind: 'unsigned' },
  [CONVERTED.uint64]: { kind: 'unsigned' },
  [CONVERTED.interval]: { kind: 'interval' },
};

const UNIT_DIGITS: Readonly<Record<number, 3 | 6 | 9>> = {
  [UNITS.millis]: 3,
  [UNITS.micros]: 6,
  [UNITS.nanos]: 9,
};

/** The logical type decides; older writers give only a converted type. */
function readMeaning(element: ThriftStruct): Meaning {
  const logical = ELEMENT.logical.read(element)?.fields[0];
  const detail =
    logical && 'fields' in (logical.value as object)
      ? (logical.value as ThriftStruct)
      : makeStruct();
  switch (logical?.id) {
    case LOGICAL.decimal:
      return decimal(DECIMAL.scale.read(detail));
    case LOGICAL.time:
    case LOGICAL.timestamp: {
      const digits = UNIT_DIGITS[MOMENT.unit.read(detail)?.fields[0]?.id ?? 0] ?? 6;
      const kind = logical.id === LOGICAL.time ? 'time' : 'timestamp';
      return { kind, digits, utc: MOMENT.isUtc.read(detail) ?? false };
    }
    case LOGICAL.integer:
      return { kind: INTEGER.isSigned.read(detail) === false ? 'unsigned' : 'stored' };
    case LOGICAL.geometry:
    case LOGICAL.geography:
      return { kind: 'geometry', crs: GEOMETRY.crs.read(detail) ?? null };
    default: {
      const kind = LOGICAL_MEANINGS[logical?.id ?? 0];
      return kind ? { kind } : convertedMeaning(element);
    }
  }
}

function convertedMeaning(element: ThriftStruct): Meaning {
  const type = ELEMENT.converted.read(element) ?? -1;
  if (type === CONVERTED.decimal) return decimal(ELEMENT.scale.read(element));
  return CONVERTED_MEANINGS[type] ?? { kind: 'stored' };
}

function decimal(scale = 0): Meaning {
  if (scale < 0 || scale > 1000) throw new Damage(`its schema has a decimal of ${scale} places`);
  return { kind: 'decimal', scale };
}
