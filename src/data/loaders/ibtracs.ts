import type { EventRecord } from '../tables/records.ts';
import { pointOf } from './csv-features.ts';
import { csvRecords } from './csv-records.ts';
import { columnsOf, numberIn } from './named-columns.ts';
import {
  basinOf,
  type Fix,
  REPEATED,
  type Storm,
  type StormReading,
  stormLoader,
  stormRecord,
} from './storm-tracks.ts';

/** The world's best tracks, collected by NOAA (IBTrACS v04). */
export const ibtracs = stormLoader(
  'NOAA IBTrACS tropical cyclone tracks (CSV)',
  { source: 'NOAA IBTrACS', publisher: 'National Oceanic and Atmospheric Administration, IBTrACS' },
  stormsIn,
);

function* stormsIn(file: string, { report, seeYear, isRepeated }: StormReading): Generator<EventRecord> {
  const records = csvRecords(file);
  const header = records.next();
  const columns = columnsOf(header.done ? [] : header.value.cells, file);
  const [sid, season, basin, name, time, lat, lng] = ['SID', 'SEASON', 'BASIN', 'NAME', 'ISO_TIME', 'LAT', 'LON'].map(
    (column) => columns.need(column),
  ) as [number, number, number, number, number, number, number];
  const [type, wind, usWind, pressure, usPressure] = ['TRACK_TYPE', 'WMO_WIND', 'USA_WIND', 'WMO_PRES', 'USA_PRES'].map(
    (column) => columns.find(column),
  ) as [number, number, number, number, number];
  let storm = null as Storm | null;
  let fixes: Fix[] = [];
  for (const { line, cells } of records) {
    const place = pointOf(cells[lat], within180(cells[lng]));
    const reason = isUnits(cells, columns.names)
      ? 'the row of units'
      : (cells[type] ?? '').trim().toLowerCase().startsWith('spur')
        ? 'a spur beside the main track'
        : typeof place === 'string'
          ? place
          : isRepeated(cells[sid]!)
            ? REPEATED
            : null;
    if (reason !== null || typeof place === 'string') {
      report.reject(reason ?? '', line, cells);
      continue;
    }
    if (storm === null || storm.sid !== cells[sid]) {
      if (storm !== null) yield stormRecord(storm, fixes);
      storm = {
        sid: cells[sid]!,
        name: cells[name]!.trim(),
        season: Number(cells[season]),
        basin: basinOf(cells[basin]!.trim()),
      };
      fixes = [];
      seeYear(storm.season);
    }
    fixes.push({
      lng: place[0],
      lat: place[1],
      time: isoTime(cells[time]!),
      windKnots: numberIn(cells[wind]) ?? numberIn(cells[usWind]),
      pressureMb: numberIn(cells[pressure]) ?? numberIn(cells[usPressure]),
    });
    report.load();
  }
  if (storm !== null) yield stormRecord(storm, fixes);
}

function isUnits(cells: readonly string[], names: readonly string[]): boolean {
  return cells[names.indexOf('LAT')]?.trim() === 'degrees_north';
}

/** Tracks that cross the 180th meridian go on counting: 204.3 is -155.7. */
function within180(cell: string | undefined): string | undefined {
  const degrees = numberIn(cell);
  if (degrees === null || Math.abs(degrees) <= 180 || Math.abs(degrees) > 360) return cell;
  return String(Math.round((degrees - Math.sign(degrees) * 360) * 1e6) / 1e6);
}

/** 2019-08-24 06:00:00, in UTC. */
function isoTime(text: string): string {
  return `${text.trim().replace(' ', 'T')}Z`;
}
