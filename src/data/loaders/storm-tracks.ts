import type { Geometry } from 'geojson';
import type { EventRecord } from '../tables/records.ts';
import type { LoadReporter } from './load-report.ts';
import { describeLoad, inTurn, type Loader, publicDomain } from './loader.ts';
import { yearSpan } from './vintages.ts';

/** A storm at one time. */
export interface Fix {
  readonly lng: number;
  readonly lat: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly windKnots: number | null;
  readonly pressureMb: number | null;
}

/** A storm without its fixes. */
export interface Storm {
  readonly sid: string;
  readonly name: string;
  readonly season: number;
  readonly basin: string;
}

/** The basins by the codes of HURDAT2 (AL) and IBTrACS (NA): a basin has one spelling whatever the file. */
const BASINS: Readonly<Record<string, string>> = {
  AL: 'North Atlantic',
  NA: 'North Atlantic',
  EP: 'Eastern Pacific',
  CP: 'Central Pacific',
  WP: 'Western Pacific',
  SP: 'South Pacific',
  NI: 'North Indian',
  SI: 'South Indian',
  SA: 'South Atlantic',
};

/** The name of a basin; an unknown code stays as it is. */
export function basinOf(code: string): string {
  return BASINS[code] ?? code;
}

/** The parameters of a reader of tracks. */
export interface TrackReading {
  readonly report: LoadReporter;
  /** Whether an earlier file has the storm: one that crosses basins is in the files of both, and editions overlap. */
  readonly isRepeated: (sid: string) => boolean;
}

export type FixOfStorm = readonly [Storm, Fix];

/** The fixes of a file, storm by storm. */
export type FixesIn = (file: string, reading: TrackReading) => AsyncIterable<readonly FixOfStorm[]>;

/** The reason why a repeated storm is not loaded. */
export const REPEATED = 'a storm that an earlier file has';

/** The loader of a publisher's file of storm tracks. */
export function stormLoader(describe: string, source: string, publisher: string, fixesIn: FixesIn): Loader {
  return {
    describe,
    loads: { name: 'records:hurricane', level: '' },
    start(files, options, report) {
      const years = yearSpan();
      const isRepeated = stormsOfEarlierFiles();
      const of = { source, licence: publicDomain(publisher) };
      return {
        kind: 'records',
        event: 'hurricane',
        info: describeLoad('records:hurricane', files, options, of, years.text),
        records: inTurn(files, report, (file) =>
          stormRecords(fixesIn(file, { report, isRepeated: isRepeated() }), years.see),
        ),
      };
    },
  };
}

async function* stormRecords(
  batches: AsyncIterable<readonly FixOfStorm[]>,
  seeYear: (year: number) => void,
): AsyncGenerator<readonly EventRecord[], void, void> {
  let current: Storm | null = null;
  let track: Fix[] = [];
  for await (const fixes of batches) {
    const records: EventRecord[] = [];
    for (const [storm, fix] of fixes) {
      if (storm.sid !== current?.sid) {
        if (current !== null) records.push(stormRecord(current, track));
        current = storm;
        track = [];
        seeYear(storm.season);
      }
      track.push(fix);
    }
    yield records;
  }
  if (current !== null) yield [stormRecord(current, track)];
}

/** To be called at the start of each file. */
function stormsOfEarlierFiles(): () => (sid: string) => boolean {
  let [earlier, own] = [new Set<string>(), new Set<string>()];
  return () => {
    earlier = new Set([...earlier, ...own]);
    own = new Set();
    return (sid) => {
      // Copied: a slice of a file's text would keep the whole block in memory.
      own.add(Buffer.from(sid).toString());
      return earlier.has(sid);
    };
  };
}

/** The least wind in knots of categories 1 to 5 (Saffir-Simpson Hurricane Wind Scale, National Hurricane Center). */
const CATEGORY_KNOTS = [64, 83, 96, 113, 137];

/** A storm as one record: its track as a line, cut at the 180th meridian. */
function stormRecord(storm: Storm, fixes: readonly Fix[]): EventRecord {
  const winds = fixes.map(({ windKnots }) => windKnots).filter((wind) => wind !== null);
  const pressures = fixes.map(({ pressureMb }) => pressureMb).filter((pressure) => pressure !== null);
  const wind = winds.length === 0 ? null : Math.max(...winds);
  return {
    geometry: trackOf(fixes),
    properties: {
      ...storm,
      max_wind_kt: wind,
      min_pressure_mb: pressures.length === 0 ? null : Math.min(...pressures),
      category: wind === null ? null : CATEGORY_KNOTS.filter((knots) => wind >= knots).length,
      start: fixes[0]!.time,
      end: fixes.at(-1)!.time,
    },
  };
}

function trackOf(fixes: readonly Fix[]): Geometry {
  const parts: [number, number][][] = [[]];
  let before: Fix | undefined;
  for (const fix of fixes) {
    if (before !== undefined && Math.abs(fix.lng - before.lng) > 180) cutAt180(parts, before, fix);
    parts.at(-1)!.push([fix.lng, fix.lat]);
    before = fix;
  }
  const lines = parts.filter((part) => part.length > 1);
  if (lines.length === 0) return { type: 'Point', coordinates: parts[0]![0]! };
  return lines.length === 1
    ? { type: 'LineString', coordinates: lines[0]! }
    : { type: 'MultiLineString', coordinates: lines };
}

/** RFC 7946, 3.1.9: a line that crosses the meridian is cut into two that end on it. */
function cutAt180(parts: [number, number][][], from: Fix, to: Fix): void {
  const side = from.lng > 0 ? 180 : -180;
  const toUnwrapped = to.lng + 2 * side;
  const along = (side - from.lng) / (toUnwrapped - from.lng);
  const lat = from.lat + along * (to.lat - from.lat);
  parts.at(-1)!.push([side, lat]);
  parts.push([[-side, lat]]);
}
