import { numberIn, pointOf, tableRows } from './agency-table.ts';
import { basinOf, type FixOfStorm, REPEATED, stormLoader, type TrackReading } from './storm-tracks.ts';

/** The world's best tracks, collected by NOAA (IBTrACS v04). */
export const ibtracs = stormLoader(
  'NOAA IBTrACS tropical cyclone tracks (CSV)',
  'NOAA IBTrACS',
  'National Oceanic and Atmospheric Administration, IBTrACS',
  fixesIn,
);

function fixesIn(
  file: string,
  { report, isRepeated }: TrackReading,
): AsyncGenerator<readonly FixOfStorm[], void, void> {
  return tableRows(file, (columns) => {
    const indexes = new Map<string, number>();
    for (const name of ['SID', 'SEASON', 'BASIN', 'NAME', 'ISO_TIME', 'LAT', 'LON'])
      indexes.set(name, columns.need(name));
    for (const name of ['TRACK_TYPE', 'WMO_WIND', 'USA_WIND', 'WMO_PRES', 'USA_PRES'])
      indexes.set(name, columns.find(name));
    const fixesOf = (cells: readonly string[]): readonly FixOfStorm[] | string => {
      const cell = (column: string) => cells[indexes.get(column)!]?.trim() ?? '';
      if (cell('LAT') === 'degrees_north') return 'the row of units';
      if (cell('TRACK_TYPE').toLowerCase().startsWith('spur')) return 'a spur beside the main track';
      const point = pointOf(cell('LAT'), within180(cell('LON')));
      if (typeof point === 'string') return point;
      if (isRepeated(cell('SID'))) return REPEATED;
      const [sid, name, season] = [cell('SID'), cell('NAME'), Number(cell('SEASON'))];
      const fix = {
        lng: point[0],
        lat: point[1],
        time: isoTime(cell('ISO_TIME')),
        windKnots: numberIn(cell('WMO_WIND')) ?? numberIn(cell('USA_WIND')),
        pressureMb: numberIn(cell('WMO_PRES')) ?? numberIn(cell('USA_PRES')),
      };
      return [[{ sid, name, season, basin: basinOf(cell('BASIN')) }, fix]];
    };
    return ({ line, cells }) => report.take(fixesOf(cells), line, cells);
  });
}

/** Longitudes continue beyond the 180th meridian: 204.3 is -155.7. */
function within180(cell: string | undefined): string | undefined {
  const degrees = numberIn(cell);
  if (degrees === null || Math.abs(degrees) <= 180 || Math.abs(degrees) > 360) return cell;
  return String(Math.round((degrees - Math.sign(degrees) * 360) * 1e6) / 1e6);
}

/** 2019-08-24 06:00:00, in UTC. */
function isoTime(text: string): string {
  return `${text.trim().replace(' ', 'T')}Z`;
}
