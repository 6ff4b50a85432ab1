import { cellOf, type Location } from '../../geo/coordinates.ts';
import { parseLenient, splitLenientPair } from '../../geo/lenient-location.ts';
import { LOCATION_NOTES, type ParsedLocation, parseLocation } from '../../geo/parse-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import type { Row } from '../../rows/port.ts';
import type { Layout, PairReading } from './layout.ts';
import type { RowFinding } from './row-places.ts';

/** Findings that lenient parsing may resolve. */
const OF_NOTATION = ['not_a_number', 'degrees_minutes_seconds', 'decimal_comma', 'degree_symbol', 'apostrophe'];

export type LocateSettings = Pick<Job, 'precision' | 'coordinates'>;

/** The cell of a row, or what is wrong with its location. `isLenient`: only lenient parsing could read it. */
export function locate(row: Row, { precision, coordinates }: LocateSettings, { pair }: Pick<Layout, 'pair'>) {
  if (row.problem !== undefined) {
    const finding: RowFinding = row.isTooLong ? 'too_many_fields' : 'unreadable';
    return { ok: false, finding, note: row.problem } as const;
  }
  const [lat = '', lng = ''] = row.fields;
  const { parsed, isLenient } = pair ? readPair(lat, coordinates, pair) : readTexts(lat, lng, coordinates);
  if (!parsed.ok) return parsed;
  const { location } = parsed;
  return { ok: true, cell: cellOf(location, precision), location, isLenient } as const;
}

/** The place of a row as its file has it, also outside the US; null for none. */
export function placeOfRow(row: Row, settings: LocateSettings, layout: Pick<Layout, 'pair'>): Location | null {
  const located = locate(row, settings, layout);
  if (located.ok) return located.location;
  return located.finding === 'outside_us' && 'elsewhere' in located ? (located.elsewhere ?? null) : null;
}

interface ReadLocation {
  readonly parsed: ParsedLocation;
  readonly isLenient: boolean;
}

function readTexts(lat: string, lng: string, coordinates: Job['coordinates']): ReadLocation {
  const strict = parseLocation(lat, lng, isCovered);
  if (strict.ok || !OF_NOTATION.includes(strict.finding)) return { parsed: strict, isLenient: false };
  return orLenient(strict, parseLenient(lat, lng, isCovered), coordinates);
}

function readPair(text: string, coordinates: Job['coordinates'], { given, assumed }: PairReading): ReadLocation {
  const place = placeInValue(text, given, assumed);
  if (typeof place === 'string') {
    return { parsed: { ok: false, finding: place, note: LOCATION_NOTES[place] }, isLenient: false };
  }
  const strict = parseLocation(place?.lat ?? '?', place?.lng ?? '?', isCovered);
  if (strict.ok || !OF_NOTATION.includes(strict.finding)) {
    // Numbers whose form leaves the order open are read as the whole file decides: no one order would read those that differ.
    const isOfFormat = given === null && place !== null && place.order !== assumed && place.order === 'lng,lat';
    if (strict.ok || strict.finding !== 'swapped' || !isOfFormat) return { parsed: strict, isLenient: false };
    return { parsed: { ...strict, note: `${strict.note} --location-order lat,lng would read it.` }, isLenient: false };
  }
  const halves = splitLenientPair(text, given ?? assumed);
  return orLenient(strict, halves && parseLenient(...halves, isCovered), coordinates);
}

/** In a strict job, the note suggests lenient parsing if it reads a place, also one outside the US. */
function orLenient(
  strict: Extract<ParsedLocation, { ok: false }>,
  lenient: ParsedLocation | null,
  coordinates: Job['coordinates'],
): ReadLocation {
  if (lenient === null) return { parsed: strict, isLenient: false };
  if (coordinates === 'lenient') return { parsed: lenient, isLenient: true };
  return {
    parsed:
      lenient.ok || lenient.finding === 'outside_us'
        ? { ...strict, note: `${strict.note} ${LENIENT_SUGGESTION}` }
        : strict,
    isLenient: false,
  };
}

const LENIENT_SUGGESTION = '--coordinates lenient would read it.';

/** The end of a note on a location that a job with an option can read, with the option. */
export const OPTION_SUGGESTION = / (--(?:coordinates|location-order) \S+) would read it\.$/;
