import { hash } from 'node:crypto';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import { boxOfGeometry } from '../../geo/bounding-boxes.ts';
import { packArea } from '../../geo/outline.ts';
import { layerOfDataset, ZONE_DEFINITIONS, zoneTables } from '../zones/zone-layers.ts';
import type { DataDatabase } from './data-database.ts';
import { FeatureBuffer } from './feature-buffer.ts';
import { isLayer, type Layer, layerTables, membersOf, tableOf } from './layers.ts';
import { type DatasetPart, WHOLE_US } from './parts.ts';
import { createPropertyTypes } from './property-types.ts';
import { unitsOf } from './published-units.ts';
import {
  type AreaRecord,
  COUNTY_TABLES,
  type CountyDataset,
  type Level,
  type LoadTarget,
  type NaturalRatingRecord,
  type ReadingRecord,
  type SiteRecord,
  type ZoneRecord,
} from './records.ts';
import type { LevelTables, LoadRow, LoadTable } from './staged-load.ts';
import { stateOf } from './states.ts';
import { createFeatureStates, type StatesOf, stateAt } from './states-near.ts';

/** The tables of a dataset, and how a record becomes rows. Records are not checked again: the loaders reject what cannot be stored. */
export interface RecordRows {
  readonly levels: readonly LevelTables[];
  readonly statesOf: StatesOf;
  /** `at end`: its rows come from `rowsAtEnd`; `known`: the record was added before. */
  readonly rowsOf: (record: unknown, origin: RecordOrigin) => RowsOfRecord | 'at end' | 'known';
  /** The rows that need all records first, record by record. `partsOf` may change the parts of a record. */
  readonly rowsAtEnd?: (partsOf: (parts: string) => string) => Iterable<RowsOfRecord>;
  /** What `rowsAtEnd` reads from; the load disposes of it. */
  readonly buffer?: Disposable;
  /** The records that are stored; left out if their geoids begin with their state. */
  readonly stored?: () => Iterable<StoredRecord>;
}

export interface RecordOrigin {
  /** The number of its file: the same record in another file is one record, and two equal ones in one file are two. */
  readonly file: number;
  /** The states of its parts, sorted, with commas between. */
  readonly parts: string;
  /** For a stored record; left out for a new one. */
  readonly identity?: Buffer;
}

/** The rows of a record, with its parts and its unit if they come at the end. */
type RowsOfRecord = readonly [
  level: number,
  rows: readonly LoadRow[],
  atEnd?: { readonly parts: string; readonly unit: string },
];

const LEVELS = ['tract', 'county'] as const;

/** The rows of the records that a load brings. */
export function recordRows(database: DataDatabase, { name, level }: LoadTarget): RecordRows {
  if (isLayer(name)) return layerRows(database, name);
  const zones = layerOfDataset(name);
  if (zones !== null) return zoneRows(database, zones);
  switch (name as 'areas' | 'nri' | 'readings' | CountyDataset) {
    case 'areas':
      return areaRows(database, level);
    case 'nri':
      return ratingRows(level);
    case 'readings':
      return readingRows(database);
    default:
      return countyRows(name as CountyDataset);
  }
}

function byGeoid(name: string): LoadTable {
  return { name, ofGeoids: `SELECT * FROM ${name} WHERE geoid BETWEEN ? AND ?` };
}

function countyRows(name: CountyDataset): RecordRows {
  const { table, valuesOf } = COUNTY_TABLES[name];
  return {
    levels: [{ level: '', tables: [byGeoid(table)] }],
    statesOf: (record) => [stateOf((record as { readonly countyGeoid: string }).countyGeoid)],
    rowsOf: (record) => [0, [[0, valuesOf(record as never)]]],
  };
}

function readingRows(database: DataDatabase): RecordRows {
  const stored = database.prepare<[], ReadingRecord>(
    'SELECT pollutant, monitor, lat, lng, concentration, measured_at AS measuredAt FROM reading_boxes',
  );
  return {
    levels: [{ level: '', tables: [{ name: 'reading_boxes' }] }],
    statesOf: (record) => stateAt(record as ReadingRecord),
    rowsOf(record) {
      const { pollutant, monitor, lat, lng, concentration, measuredAt } = record as ReadingRecord;
      const values = [
        null,
        lng,
        lng,
        lat,
        lat,
        pollutant,
        monitor,
        lat,
        lng,
        concentration,
        measuredAt,
      ];
      return [0, [[0, values]]];
    },
    stored: () => stored.all().map((record) => ({ record })),
  };
}

const stateOfGeoid: StatesOf = (record) => [stateOf((record as { readonly geoid: string }).geoid)];

function levelsOf(level: Level): readonly ('tract' | 'county')[] {
  return LEVELS.filter((candidate) => level === '' || level === candidate);
}

function areaRows(database: DataDatabase, level: Level): RecordRows {
  const levels = levelsOf(level);
  const nextId = takenIds(database, 'areas');
  return {
    levels: levels.map((name) => {
      // By id: an R*Tree has no index on geoids.
      const ofGeoids = `SELECT box.* FROM areas_${name} AS area JOIN area_boxes_${name} AS box ON box.id = area.id
                        WHERE area.geoid BETWEEN ? AND ?`;
      return {
        level: name,
        tables: [byGeoid(`areas_${name}`), { name: `area_boxes_${name}`, ofGeoids }],
      };
    }),
    statesOf: stateOfGeoid,
    rowsOf(record) {
      const { geoid, level: own, name, state, geometry } = record as AreaRecord;
      const box = boxOfGeometry(geometry)!;
      const id = nextId();
      const area: LoadRow = [0, [id, geoid, name, state, Buffer.from(packArea(geometry).buffer)]];
      const bounds: LoadRow = [1, [id, box.minLng, box.maxLng, box.minLat, box.maxLat, geoid]];
      return [levels.indexOf(own), [area, bounds]];
    },
  };
}

const IDS_AT_ONCE = 10_000;

/** Reserves ids by the thousand: a write for each takes longer than everything else. */
function takenIds(database: DataDatabase, kind: 'areas' | 'zones'): () => number {
  const take = database
    .prepare<[number, string], number>(
      'UPDATE next_ids SET next_id = next_id + ? WHERE kind = ? RETURNING next_id',
    )
    .pluck();
  let next = 0;
  let end = 0;
  return () => {
    if (next === end) {
      end = take.get(IDS_AT_ONCE, kind)!;
      next = end - IDS_AT_ONCE;
    }
    next += 1;
    return next - 1;
  };
}

/** Zones and panels of a layer. One that is in several files, because they overlap, is one record: its rings and all else are equal. */
function zoneRows(database: DataDatabase, layer: PolygonLayer): RecordRows {
  const { zones, outlines } = zoneTables(layer);
  const nextId = takenIds(database, 'zones');
  const known = new Set<string>();
  const ofGeoids = `SELECT outline.* FROM ${zones} AS zone JOIN ${outlines} AS outline ON outline.id = zone.id
                    WHERE zone.geoid BETWEEN ? AND ?`;
  return {
    levels: [
      {
        level: '',
        tables: [
          { ...byGeoid(zones), definition: ZONE_DEFINITIONS.zones },
          { name: outlines, definition: ZONE_DEFINITIONS.outlines, ofGeoids },
        ],
      },
    ],
    // Without studies the file says nothing of states.
    statesOf: layer.study === undefined ? () => [] : stateOfGeoid,
    rowsOf(record) {
      const { kind, geoid, code, detail, facts, geometry } = record as ZoneRecord;
      const rings = geometry === null ? null : Buffer.from(packArea(geometry).buffer);
      const own = [geoid, kind, code, detail] as const;
      const text = facts === null ? '{}' : JSON.stringify(facts);
      const identity = hash(
        'sha1',
        Buffer.concat([Buffer.from(JSON.stringify([...own, text])), rings ?? NO_RINGS]),
        'base64',
      );
      if (known.has(identity)) return 'known';
      known.add(identity);
      const { minLng, maxLng, minLat, maxLat } =
        geometry === null ? NO_BOX : boxOfGeometry(geometry)!;
      const id = nextId();
      const zone: LoadRow = [0, [id, ...own, minLng, maxLng, minLat, maxLat, text]];
      return [0, rings === null ? [zone] : [zone, [1, [id, rings]]]];
    },
  };
}

const NO_RINGS = Buffer.alloc(0);
/** A row of a table is found by its code. */
const NO_BOX = { minLng: 0, maxLng: 0, minLat: 0, maxLat: 0 } as const;

function ratingRows(level: Level): RecordRows {
  const levels = levelsOf(level);
  return {
    levels: levels.map((name) => ({ level: name, tables: [byGeoid(`ratings_${name}`)] })),
    statesOf: stateOfGeoid,
    rowsOf(record) {
      const { lossRate = null, ...own } = record as NaturalRatingRecord;
      const { geoid, topic, rating, score, frequency } = own;
      const level = levels.indexOf(geoid.length === 5 ? 'county' : 'tract');
      return [level, [[0, [geoid, topic, rating, score, frequency, lossRate]]]];
    },
  };
}

/** Features are buffered: only after the last one are the types of properties known, and the parts of records in several files. */
function layerRows(database: DataDatabase, layer: Layer): RecordRows {
  const buffer = new FeatureBuffer();
  const types = createPropertyTypes();
  return {
    levels: [{ level: '', tables: layerTables(layer) }],
    buffer,
    statesOf: createFeatureStates(),
    stored: () => storedFeatures(database, layer),
    rowsOf(record, { file, parts, identity }) {
      const { id, geometry, properties } = record as SiteRecord;
      const { minLng, maxLng, minLat, maxLat } = boxOfGeometry(geometry)!;
      const point = geometry.type === 'Point' ? [minLng, minLat] : [null, null];
      const named = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
      types.see(properties);
      const isNew = buffer.add(file, {
        identity: identity ?? hashIdentity(record as SiteRecord),
        parts,
        unit: unitsOf(layer)?.of(record) ?? '',
        bounds: JSON.stringify([minLng, maxLng, minLat, maxLat, ...point]),
        // The properties come last: each answer adds its distance there (layers.ts).
        head: `{"type":"Feature",${named}"geometry":${JSON.stringify(geometry)},"properties":`,
        properties: JSON.stringify(properties),
      });
      return isNew ? 'at end' : 'known';
    },
    *rowsAtEnd(partsOf) {
      let id = 0;
      for (const { identity, parts, unit, bounds, head, properties } of buffer.features()) {
        const typed = JSON.stringify(types.typed(JSON.parse(properties)));
        const own = partsOf(parts);
        id += 1;
        const row: LoadRow = [
          0,
          [id, ...(JSON.parse(bounds) as readonly unknown[]), `${head}${typed}}`],
        ];
        yield [0, [row, [1, [id, identity, own]]], { parts: own, unit }];
      }
    },
  };
}

/** Columns with a server's row numbers, which may change with each publication. */
const ROW_NUMBERS = /^(objectid(_\d+)?|fid|oid|esri_oid|globalid)$/i;

const IDENTITY_BYTES = 16;

/** Identifies a record in its dataset: the agency's id, or a digest of geometry and properties. Equal for the same record in two files, even
 * if one is a CSV with texts instead of numbers. 128 bits: two of a million records agree by chance once in 10^26. */
export function hashIdentity({ key, geometry, properties }: SiteRecord): Buffer {
  const text =
    key === undefined ? JSON.stringify([geometry, plainValues(properties)]) : `key ${key}`;
  return hash('sha1', text, 'buffer').subarray(0, IDENTITY_BYTES);
}

function plainValues(properties: SiteRecord['properties']): unknown[] {
  const values: unknown[] = [];
  for (const [name, value] of Object.entries(properties)) {
    const plain = plainValue(value);
    if (plain !== '' && !ROW_NUMBERS.test(name)) values.push(name, plain);
  }
  return values;
}

/** A CSV has an empty text instead of null, and a code may have lost its zeros. */
function plainValue(value: unknown): unknown {
  if (value === null) return '';
  if (typeof value === 'object') return value;
  return String(value)
    .trim()
    .replace(/^0+(?=\d)/, '');
}

export interface KeptRecords {
  /** Whether the records of a unit in a state stay, for records with one state each; '' is the sea. */
  readonly inUnit: (state: string, unit: string) => boolean;
  /** The parts of a record that stay; `states` returns the states in which it lies, `unit` its unit. */
  readonly partsOf: (
    parts: readonly string[],
    states: () => readonly string[],
    unit: () => string,
  ) => readonly string[];
}

/** Keeps the parts that are not loaded again, and of the whole US the records in other states.
 * @param units if only these units of the parts are loaded again: their other units stay, too */
export function keptBesides(
  loaded: ReadonlySet<string>,
  units: ReadonlySet<string> | null,
): KeptRecords {
  const isWhole = loaded.has(WHOLE_US);
  const isReplaced = (states: readonly string[]) =>
    states.length > 0 && states.every((state) => loaded.has(state));
  const isOther = (unit: string) => units !== null && !units.has(unit);
  return {
    inUnit: (state, unit) => (!isWhole && !loaded.has(state)) || isOther(unit),
    partsOf(parts, states, unit) {
      if (isOther(unit())) return isWhole ? [WHOLE_US] : parts;
      if (isWhole) return [];
      return parts.filter(
        (part) => !loaded.has(part) && !(part === WHOLE_US && isReplaced(states())),
      );
    },
  };
}

/** Keeps the parts that are not removed. */
export function keptWithout(
  removed: ReadonlySet<string>,
  parts: readonly DatasetPart[],
): KeptRecords {
  const states = new Set(parts.map(({ state }) => state));
  return {
    inUnit: (state) => !removed.has(states.has(state) ? state : WHOLE_US),
    partsOf: (own) => own.filter((part) => !removed.has(part)),
  };
}

/** A stored record, with its parts if it may be in several. */
interface StoredRecord {
  readonly record: object;
  readonly identity?: Buffer;
  readonly parts?: readonly string[];
}

/** The records of a layer, in the order of their ids. One by one, because an R*Tree is fast by id but reads all rows for a range of ids,
 * and because the same connection writes in between. */
function* storedFeatures(database: DataDatabase, layer: Layer): Generator<StoredRecord> {
  const table = tableOf(layer);
  if (database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) === undefined)
    return;
  const members = database
    .prepare<[], { id: number; identity: Buffer; parts: string }>(
      `SELECT id, identity, parts FROM ${membersOf(layer)} ORDER BY id`,
    )
    .all();
  const featureOf = database
    .prepare<[number], string>(`SELECT feature FROM ${table} WHERE id = ?`)
    .pluck();
  for (const { id, identity, parts } of members) {
    yield {
      record: JSON.parse(featureOf.get(id)!) as SiteRecord,
      identity,
      parts: parts.split(','),
    };
  }
}
