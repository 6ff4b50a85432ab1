import type { FileHead } from './file-head.ts';
import type { PlaceColumns } from './location-names.ts';
import { scorePlaces } from './place-scores.ts';

/** The columns of the location; of one column with both, `lat` and `lng` are equal. */
export interface LocationColumns extends PlaceColumns {
  /** The chosen columns and why the choice is uncertain; null if it is certain. */
  readonly note: string | null;
  /** The columns with N or S, and with E or W, of unsigned numbers. Left out where there are none. */
  readonly compass?: CompassColumns;
}

/** Columns of compass letters beside unsigned numbers; null for none. */
export interface CompassColumns {
  readonly lat: number | null;
  readonly lng: number | null;
}

/** A word for a direction, by its first letter; O is West in some languages and East in others. */
const DIRECTION = /^\s*(?:([NSEW])|(north|south|east|west)(?:ern)?)\.?\s*$/i;

/** Adds the columns of compass letters where the longitudes have no sign, so that the places lie in the US only with them. */
export function withCompass(
  { rows }: FileHead,
  names: readonly string[],
  { place, note }: { readonly place: PlaceColumns; readonly note: string | null },
): LocationColumns {
  const { lat, lng } = place;
  if (lat === lng || !scorePlaces(rows, place).hasLostSigns) return { lat, lng, note };
  const compassOf = (axis: 'lat' | 'lng'): number | null => {
    const letters = axis === 'lat' ? 'NS' : 'EW';
    const fitting = [...names.keys()].filter((index) => {
      const texts = rows.map(({ fields }) => fields[index] ?? '').filter((text) => text.trim());
      return texts.length > 0 && texts.every((text) => letters.includes(directionOf(text) ?? '?'));
    });
    return fitting.sort((a, b) => Math.abs(a - place[axis]) - Math.abs(b - place[axis]))[0] ?? null;
  };
  const compass = { lat: compassOf('lat'), lng: compassOf('lng') };
  if (compass.lng === null) return { lat, lng, note };
  const told = `Column "${names[compass.lng]}" says East or West of "${names[place.lng]}".`;
  return { lat, lng, compass, note: [note, told].filter(Boolean).join(' ') };
}

/** The compass letter of a word, in capitals; null for another text. */
export function directionOf(text: string): string | null {
  const [, letter, word] = DIRECTION.exec(text) ?? [];
  return (letter ?? word)?.charAt(0).toUpperCase() ?? null;
}
