import type { PerilbookError } from '../../base/errors.ts';
import type { PlaceCandidate, PlaceColumns } from './location-names.ts';
import { columnOptions, columnsError, columnsText } from './named-columns.ts';
import type { PlaceScore } from './place-scores.ts';

/** Which columns are the location, as names and values show it. */
export type LocationChoice =
  | {
      readonly kind: 'chosen';
      readonly place: PlaceColumns;
      readonly note: string | null;
      /** False where the values alone show it. */
      readonly isByName: boolean;
    }
  | {
      readonly kind: 'unclear';
      /** What works, the best first. */
      readonly options: readonly PlaceColumns[];
      /** Columns with a better name that do not. */
      readonly skipped: PassedOver | null;
    }
  | { readonly kind: 'projected'; readonly place: PlaceColumns }
  | { readonly kind: 'none' };

/** Columns with a better name than those that were taken, and what is wrong with them. */
export interface PassedOver {
  readonly place: PlaceColumns;
  readonly verdict: PlaceScore['verdict'];
}

const roleOf = (place: PlaceColumns): string =>
  place.lat === place.lng ? 'the location' : 'latitude and longitude';

/** Says which columns were taken. */
export function takenNote(names: readonly string[], place: PlaceColumns): string {
  return place.lat === place.lng
    ? `Column "${names[place.lat]}" was taken as the location.`
    : `${columnsText(names, place)} were taken as ${roleOf(place)}.`;
}

/** Says which columns were taken where their names alone do not make it certain; null where they do. */
export function weakNote(
  names: readonly string[],
  { nameClass, ...place }: PlaceCandidate,
): string | null {
  const isCertain = place.lat !== place.lng && nameClass !== 'weak' && nameClass !== 'other_place';
  return isCertain ? null : takenNote(names, place);
}

/** Says which other columns look like locations; null for none. */
export function notedOthers(
  names: readonly string[],
  chosen: PlaceColumns,
  others: readonly PlaceColumns[],
): string | null {
  if (others.length === 0) return null;
  const listed = others.map((place) => columnsText(names, place)).join(', ');
  return `Several columns look like locations: ${columnsText(names, chosen)} were taken, not ${listed}.`;
}

/** Says why columns with a better name were not taken. */
export function passedNote(
  names: readonly string[],
  chosen: PlaceColumns,
  { place, verdict }: PassedOver,
  rows: number,
): string {
  return `${columnsText(names, place)} ${PASSED[verdict](rows)}: ${columnsText(names, chosen)} ${chosen.lat === chosen.lng ? 'was' : 'were'} taken as ${roleOf(chosen)}.`;
}

/** What is wrong with columns that were passed over. */
const PASSED: Readonly<Record<PlaceScore['verdict'], (rows: number) => string>> = {
  us: () => 'lie in the US',
  other_notation: () => 'are in another notation',
  elsewhere: () => 'lie outside the US',
  no_place: () => 'hold no degrees',
  empty: (rows) => `have nothing in the first ${rows === 1 ? 'row' : `${rows} rows`}`,
};

const MOST_OPTIONS = 4;

/** The error for columns that hold different places, with the options that name each. */
export function unclearError(
  names: readonly string[],
  { options, skipped }: Extract<LocationChoice, { kind: 'unclear' }>,
): PerilbookError {
  const ways = options.slice(0, MOST_OPTIONS).map((place) => columnOptions(names, place));
  const shown = options.slice(0, MOST_OPTIONS).map((place) => columnsText(names, place));
  if (skipped !== null) {
    const message = `${columnsText(names, skipped.place)} ${PASSED[skipped.verdict](1).replace(' in the first row', '')}`;
    const hint = `If another location is meant, name it: ${ways.join(', or ')}.`;
    return columnsError(`${message}; ${shown[0]} lie in the US`, names, { hint });
  }
  const message = `Which columns are the location is unclear: ${shown.join(', or ')} hold different places`;
  return columnsError(message, names, { hint: `Name one: ${ways.join(', or ')}.` });
}
