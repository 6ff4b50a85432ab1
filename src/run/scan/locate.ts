import { cellOf, type Location } from '../../geo/coordinates.ts';
import { parseLenient, splitLenientPair, splitPair } from '../../geo/lenient-location.ts';
import { type ParsedLocation, parseLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import type { Row } from '../../rows/port.ts';
import type { Layout } from './layout.ts';
import type { RowFinding } from './row-places.ts';

/** Findings that lenient parsing may resolve. */
const OF_NOTATION = ['not_a_number', 'degrees_minutes_seconds', 'decimal_comma', 'degree_symbol'];

export type LocateSettings = Pick<Job, 'precision' | 'coordinates'>;

/** The cell of a row, or what is wrong with its location. `isLenient`: only lenient parsing could read it. */
export function locate(row: Row, { precision, coordinates }: LocateSettings, { isPair }: Pick<Layout, 'isPair'>) {
  if (row.problem !== undefined) {
    const finding: RowFinding = row.isTooLong ? 'too_many_fields' : 'unreadable';
    return { ok: false, finding, note: row.problem } as const;
  }
  const [lat = '', lng = ''] = row.fields;
  const { parsed, isLenient } = isPair ? readPair(lat, coordinates) : readTexts(lat, lng, coordinates);
  if (!parsed.ok) return parsed;
  const { location } = parsed;
  return { ok: true, cell: cellOf(location, precision), location, isLenient } as const;
}

/** The place of a row as its file has it, also outside the US; null for none. */
export function placeOfRow(row: Row, settings: LocateSettings, layout: Pick<Layout, 'isPair'>): Location | null {
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

function readPair(text: string, coordinates: Job['coordinates']): ReadLocation {
  if (text.trim() === '') return { parsed: parseLocation('', '', isCovered), isLenient: false };
  const pair = splitPair(text);
  const strict = parseLocation(...(pair ?? (['?', '?'] as const)), isCovered);
  if (strict.ok || !OF_NOTATION.includes(strict.finding)) return { parsed: strict, isLenient: false };
  const halves = splitLenientPair(text);
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

/** The end of a note on a location that lenient parsing can read. */
export const LENIENT_SUGGESTION = '--coordinates lenient would read it.';
