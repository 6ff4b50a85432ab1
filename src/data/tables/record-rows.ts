import type { z } from 'zod';
import { AIR_QUALITY_DAYS } from '../../contract/topic-values.ts';
import { packOutline } from './area-outlines.ts';
import type { Box } from './bounding-boxes.ts';
import type { DataDatabase } from './data-database.ts';
import { boxOfGeometry } from './geometry-box.ts';
import { type Layer, layerTable } from './layers.ts';
import { createPropertyTypes } from './property-types.ts';
import {
  airQualityRecord,
  areaRecord,
  featureRecord,
  naturalRatingRecord,
  radonRecord,
  readingRecord,
} from './record-checks.ts';
import type { AreaRecord, EventRecord, Level, LoadTarget, SiteRecord } from './records.ts';
import { RowBuffer } from './row-buffer.ts';
import type { LoadPart, LoadRow, LoadTable } from './staged-load.ts';

/** A record that cannot be stored. */
export class InvalidRecord extends Error {}

/** The tables of a dataset, and how one record becomes rows. */
export interface RecordRows {
  readonly parts: readonly LoadPart[];
  /** Null when the rows come at the end. @throws InvalidRecord that says what is wrong with it */
  readonly rowsOf: (record: unknown) => RowsOfRecord | null;
  /** The rows that need all records to be known, record by record. */
  readonly rowsAtEnd?: () => Iterable<RowsOfRecord>;
  /** What `rowsAtEnd` reads from; the load disposes of it. */
  readonly buffer?: Disposable;
}

type RowsOfRecord = readonly [part: number, rows: readonly LoadRow[]];

const LEVELS = ['tract', 'county'] as const;

/** The tables of a dataset, or of one of its levels. */
export function recordRows(database: DataDatabase, target: LoadTarget): RecordRows {
  switch (target.kind) {
    case 'areas':
      return areaRows(database, target.level);
    case 'nri':
      return ratingRows(target.level);
    case 'sites':
      return layerRows(`sites:${target.topic}`);
    case 'records':
      return layerRows(`records:${target.event}`);
    case 'airQuality':
      return oneTable(
        {
          ...existing('air_quality', 3),
          // The agency's file may have several years; the newest is stored.
          onConflict:
            'ON CONFLICT (county) DO UPDATE SET year = excluded.year, days = excluded.days WHERE excluded.year > year',
        },
        (record) => {
          const parsed = parse(airQualityRecord, record);
          const days = Object.fromEntries(AIR_QUALITY_DAYS.map((field) => [field, parsed[field]]));
          return [parsed.countyGeoid, parsed.year, JSON.stringify(days)];
        },
      );
    case 'radon':
      return oneTable(existing('radon', 2), (record) => {
        const { countyGeoid, zone } = parse(radonRecord, record);
        return [countyGeoid, zone];
      });
    case 'readings':
      return oneTable(existing('reading_boxes', 11), (record) => {
        const { pollutant, monitor, lat, lng, concentration, measuredAt } = parse(readingRecord, record);
        return [null, lng, lng, lat, lat, pollutant, monitor, lat, lng, concentration, measuredAt];
      });
  }
}

function existing(name: string, columns: number): LoadTable {
  return { name, definition: null, columns };
}

function oneTable(table: LoadTable, valuesOf: (record: unknown) => unknown[]): RecordRows {
  return {
    parts: [{ level: '', tables: [table] }],
    rowsOf: (record) => [0, [[0, valuesOf(record)]]],
  };
}

function levelsOf(level: Level | undefined): readonly ('tract' | 'county')[] {
  return LEVELS.filter((known) => level === undefined || level === known);
}

function partOf(levels: readonly string[], level: string): number {
  const part = levels.indexOf(level);
  if (part < 0) throw new InvalidRecord(`level: Expected ${levels.join(' or ')}, got ${level}`);
  return part;
}

function areaRows(database: DataDatabase, level: Level | undefined): RecordRows {
  const levels = levelsOf(level);
  const nextId = areaIds(database);
  return {
    parts: levels.map((name) => ({
      level: name,
      tables: [existing(`areas_${name}`, 5), existing(`area_boxes_${name}`, 6)],
    })),
    rowsOf(record) {
      const area = parse(areaRecord, record) as AreaRecord;
      const { geoid, name, state, geometry } = area;
      if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') {
        throw new InvalidRecord(`geometry: Expected Polygon or MultiPolygon (${geoid})`);
      }
      const box = boxOf(geometry);
      const part = partOf(levels, area.level);
      const id = nextId();
      return [
        part,
        [
          [0, [id, geoid, name, state, packOutline(geometry)]],
          [1, [id, box.minLng, box.maxLng, box.minLat, box.maxLat, geoid]],
        ],
      ];
    },
  };
}

const IDS_AT_ONCE = 10_000;

/** Ids for areas, reserved by the thousands: a write for each would take longer than the rest. */
function areaIds(database: DataDatabase): () => number {
  const take = database
    .prepare<[number], number>("UPDATE next_ids SET next_id = next_id + ? WHERE kind = 'areas' RETURNING next_id")
    .pluck();
  let next = 0;
  let end = 0;
  return () => {
    if (next === end) {
      end = take.get(IDS_AT_ONCE)!;
      next = end - IDS_AT_ONCE;
    }
    next += 1;
    return next - 1;
  };
}

function ratingRows(level: Level | undefined): RecordRows {
  const levels = levelsOf(level);
  return {
    parts: levels.map((name) => ({ level: name, tables: [existing(`ratings_${name}`, 5)] })),
    rowsOf(record) {
      const { geoid, topic, rating, score, frequency } = parse(naturalRatingRecord, record);
      const part = partOf(levels, geoid.length === 5 ? 'county' : 'tract');
      return [part, [[0, [geoid, topic, rating, score, frequency]]]];
    },
  };
}

/** The columns of a layer's row before its JSON: its box, and of a point its place. */
type FeaturePlace = readonly [number, number, number, number, lng: number | null, lat: number | null];

/** Features are buffered: the type of a property is known only when all of them have been seen. */
function layerRows(layer: Layer): RecordRows {
  const buffer = new RowBuffer();
  const types = createPropertyTypes();
  return {
    parts: [{ level: '', tables: [layerTable(layer)] }],
    buffer,
    rowsOf(record) {
      const { id, geometry, properties } = parse<SiteRecord | EventRecord>(featureRecord, record);
      const { minLng, maxLng, minLat, maxLat } = boxOf(geometry);
      const point = geometry.type === 'Point' ? [minLng, minLat] : [null, null];
      const named = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
      // The properties come last: each answer adds its distance there (layers.ts).
      const head = `{"type":"Feature",${named}"geometry":${JSON.stringify(geometry)},"properties":`;
      types.see(properties);
      buffer.add(0, JSON.stringify([[minLng, maxLng, minLat, maxLat, ...point], head, properties]));
      return null;
    },
    *rowsAtEnd() {
      for (const row of buffer.rows()) {
        const [place, head, properties] = JSON.parse(row) as [FeaturePlace, string, Record<string, unknown>];
        yield [0, [[0, [null, ...place, `${head}${JSON.stringify(types.typed(properties))}}`]]]];
      }
    },
  };
}

function parse<T>(schema: z.ZodType<T>, record: unknown): T {
  const parsed = schema.safeParse(record);
  if (parsed.success) return parsed.data;
  throw new InvalidRecord(
    parsed.error.issues
      .map(({ path, message }) => (path.length ? `${path.join('.')}: ${message}` : message))
      .join('; '),
  );
}

function boxOf(geometry: unknown): Box {
  const box = boxOfGeometry(geometry);
  if (box === null) {
    throw new InvalidRecord('geometry: Expected a GeoJSON geometry with positions within ±180 and ±90 degrees');
  }
  return box;
}
