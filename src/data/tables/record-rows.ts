import { packOutline } from './area-outlines.ts';
import { boxOfGeometry } from './bounding-boxes.ts';
import type { DataDatabase } from './data-database.ts';
import { type Layer, layerTable } from './layers.ts';
import { createPropertyTypes } from './property-types.ts';
import type {
  AirQualityRecord,
  AreaRecord,
  Level,
  LoadTarget,
  NaturalRatingRecord,
  RadonRecord,
  ReadingRecord,
  SiteRecord,
} from './records.ts';
import { RowBuffer } from './row-buffer.ts';
import type { LoadPart, LoadRow, LoadTable } from './staged-load.ts';

/** The tables of a dataset, and how one record becomes rows. Records are not checked again: each loader rejects the rows that
 * cannot be stored, with their file and line. */
export interface RecordRows {
  readonly parts: readonly LoadPart[];
  /** Null when the rows come at the end. */
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
          const { countyGeoid, year, ...days } = record as AirQualityRecord;
          return [countyGeoid, year, JSON.stringify(days)];
        },
      );
    case 'radon':
      return oneTable(existing('radon', 2), (record) => {
        const { countyGeoid, zone } = record as RadonRecord;
        return [countyGeoid, zone];
      });
    case 'readings':
      return oneTable(existing('reading_boxes', 11), (record) => {
        const { pollutant, monitor, lat, lng, concentration, measuredAt } = record as ReadingRecord;
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

function areaRows(database: DataDatabase, level: Level | undefined): RecordRows {
  const levels = levelsOf(level);
  const nextId = areaIds(database);
  return {
    parts: levels.map((name) => ({
      level: name,
      tables: [existing(`areas_${name}`, 5), existing(`area_boxes_${name}`, 6)],
    })),
    rowsOf(record) {
      const { geoid, level: own, name, state, geometry } = record as AreaRecord;
      const box = boxOfGeometry(geometry)!;
      const id = nextId();
      return [
        levels.indexOf(own),
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
      const { geoid, topic, rating, score, frequency } = record as NaturalRatingRecord;
      const part = levels.indexOf(geoid.length === 5 ? 'county' : 'tract');
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
      const { id, geometry, properties } = record as SiteRecord;
      const { minLng, maxLng, minLat, maxLat } = boxOfGeometry(geometry)!;
      const point = geometry.type === 'Point' ? [minLng, minLat] : [null, null];
      const named = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
      // The properties come last: each answer adds its distance there (layers.ts).
      const head = `{"type":"Feature",${named}"geometry":${JSON.stringify(geometry)},"properties":`;
      types.see(properties);
      // Three lines: JSON has no line break of its own.
      const place = JSON.stringify([minLng, maxLng, minLat, maxLat, ...point]);
      buffer.add(0, `${place}\n${head}\n${JSON.stringify(properties)}`);
      return null;
    },
    *rowsAtEnd() {
      for (const row of buffer.rows()) {
        const [place, head, properties] = row.split('\n') as [string, string, string];
        const typed = JSON.stringify(types.typed(JSON.parse(properties)));
        yield [0, [[0, [null, ...(JSON.parse(place) as FeaturePlace), `${head}${typed}}`]]]];
      }
    },
  };
}
