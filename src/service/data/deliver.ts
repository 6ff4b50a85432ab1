import type { z } from 'zod';
import type { Clock } from '../../clock.ts';
import { AIR_QUALITY_DAYS } from '../../contract/values.ts';
import { PerilbookError } from '../../errors.ts';
import { packOutline } from './area-outlines.ts';
import type { Box } from './bounding-boxes.ts';
import type { ServiceDatabase } from './database.ts';
import { boxOfGeometry } from './geometry-box.ts';
import { type Layer, replaceLayer } from './layers.ts';
import {
  airQualityRecord,
  areaRecord,
  datasetInfo,
  featureRecord,
  naturalRatingRecord,
  radonRecord,
  readingRecord,
} from './record-checks.ts';
import type { AreaRecord, DatasetName, Delivery, FeedRecord, SiteRecord } from './records.ts';

/** A record that cannot enter; `deliver` adds which one it was. */
class UnfitRecord extends Error {}

/** Adds one record to the table that was emptied for it. */
type Add = (record: unknown) => void;

/**
 * The one way in: replaces a data set by a delivery, in one transaction. The records are streamed; a bad one leaves the
 * data set as it was. Services that run on the file answer from the old data until the end, and wait with charging.
 *
 * @returns the number of records
 * @throws PerilbookError SERVICE_DATA that names the record, from 1, and what is wrong with it
 */
export function deliver(database: ServiceDatabase, delivery: Delivery, clock: Clock): number {
  const expected = nameOf(delivery);
  const info = datasetInfo.safeParse(delivery.info);
  if (!info.success || info.data.name !== expected) {
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot load data set "${delivery.info.name}": its description must be complete and name "${expected}"`,
      'Correct the description of the data set.',
      { dataset: expected },
    );
  }
  return database
    .transaction(() => {
      const add = emptied(database, delivery);
      let rows = 0;
      for (const record of delivery.records) {
        rows++;
        try {
          add(record);
        } catch (error) {
          throw refusal(expected, rows, error);
        }
      }
      database
        .prepare(
          `INSERT OR REPLACE INTO datasets (name, source, vintage, licence, sample, rows, loaded_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          expected,
          info.data.source,
          info.data.vintage,
          info.data.licence,
          info.data.sample ? 1 : 0,
          rows,
          clock.now(),
        );
      return rows;
    })
    .immediate();
}

function nameOf(delivery: Delivery): DatasetName {
  if (delivery.kind === 'sites') return `sites:${delivery.topic}`;
  if (delivery.kind === 'records') return `records:${delivery.feed}`;
  return delivery.kind;
}

function refusal(dataset: DatasetName, row: number, error: unknown): unknown {
  const reason = reasonOf(error);
  if (reason === null) return error;
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load data set "${dataset}": record ${row}: ${reason}`,
    'Correct or drop this record and load again; the data that was there is unchanged.',
    { dataset, row },
    error,
  );
}

/** Why a record was refused, or null when the fault lies elsewhere (a full disk, a locked file). */
function reasonOf(error: unknown): string | null {
  if (error instanceof UnfitRecord) return error.message;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT') ? (error as Error).message : null;
}

function parse<T>(schema: z.ZodType<T>, record: unknown): T {
  const parsed = schema.safeParse(record);
  if (parsed.success) return parsed.data;
  throw new UnfitRecord(
    parsed.error.issues
      .map(({ path, message }) => (path.length ? `${path.join('.')}: ${message}` : message))
      .join('; '),
  );
}

function emptied(database: ServiceDatabase, delivery: Delivery): Add {
  switch (delivery.kind) {
    case 'areas':
      return emptiedAreas(database);
    case 'sites':
      return emptiedLayer(database, `sites:${delivery.topic}`);
    case 'records':
      return emptiedLayer(database, `records:${delivery.feed}`);
    case 'nri': {
      database.exec('DELETE FROM ratings');
      const insert = database.prepare('INSERT INTO ratings VALUES (?, ?, ?, ?, ?)');
      return (record) => {
        const { geoid, topic, rating, score, frequency } = parse(naturalRatingRecord, record);
        insert.run(geoid, topic, rating, score, frequency);
      };
    }
    case 'airQuality': {
      database.exec('DELETE FROM air_quality');
      // The agency's file may hold several years; the summary is that of the newest.
      const insert = database.prepare(
        `INSERT INTO air_quality VALUES (?, ?, ?)
         ON CONFLICT (county) DO UPDATE SET year = excluded.year, days = excluded.days WHERE excluded.year > year`,
      );
      return (record) => {
        const parsed = parse(airQualityRecord, record);
        const days = Object.fromEntries(AIR_QUALITY_DAYS.map((field) => [field, parsed[field]]));
        insert.run(parsed.countyGeoid, parsed.year, JSON.stringify(days));
      };
    }
    case 'radon': {
      database.exec('DELETE FROM radon');
      const insert = database.prepare('INSERT INTO radon VALUES (?, ?)');
      return (record) => {
        const { countyGeoid, zone } = parse(radonRecord, record);
        insert.run(countyGeoid, zone);
      };
    }
    case 'readings':
      return emptiedReadings(database);
  }
}

function emptiedAreas(database: ServiceDatabase): Add {
  database.exec('DELETE FROM areas; DELETE FROM area_boxes');
  const insert = database.prepare('INSERT INTO areas (geoid, level, name, state, outline) VALUES (?, ?, ?, ?, ?)');
  const insertBox = database.prepare('INSERT INTO area_boxes VALUES (?, ?, ?, ?, ?, ?, ?)');
  return (record) => {
    const { geoid, level, name, state, geometry } = parse(areaRecord, record) as AreaRecord;
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') {
      throw new UnfitRecord(`geometry: Expected Polygon or MultiPolygon (${geoid})`);
    }
    const box = boxOf(geometry);
    const { lastInsertRowid } = insert.run(geoid, level, name, state, packOutline(geometry));
    insertBox.run(lastInsertRowid, box.minLng, box.maxLng, box.minLat, box.maxLat, geoid, level);
  };
}

function emptiedLayer(database: ServiceDatabase, layer: Layer): Add {
  const add = replaceLayer(database, layer);
  return (record) => {
    const { geometry, properties } = parse<SiteRecord | FeedRecord>(featureRecord, record);
    const box = boxOf(geometry);
    const point = geometry.type === 'Point' ? { lng: box.minLng, lat: box.minLat } : null;
    add({ box, point, json: JSON.stringify({ type: 'Feature', geometry, properties }) });
  };
}

function emptiedReadings(database: ServiceDatabase): Add {
  database.exec('DELETE FROM reading_boxes');
  const insert = database.prepare('INSERT INTO reading_boxes VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return (record) => {
    const { pollutant, monitor, lat, lng, concentration, measuredAt } = parse(readingRecord, record);
    insert.run(lng, lng, lat, lat, pollutant, monitor, lat, lng, concentration, measuredAt);
  };
}

function boxOf(geometry: unknown): Box {
  const box = boxOfGeometry(geometry);
  if (box === null) {
    throw new UnfitRecord('geometry: Expected a GeoJSON geometry with positions within ±180 and ±90 degrees');
  }
  return box;
}
