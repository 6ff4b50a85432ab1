import type { FileHead } from './file-head.ts';
import {
  type LocationChoice,
  notedOthers,
  type PassedOver,
  passedNote,
  takenNote,
  weakNote,
} from './location-choice.ts';
import { geocoderHint } from './location-hints.ts';
import {
  isAxisName,
  NAME_CLASSES,
  type PlaceCandidate,
  type PlaceColumns,
  plainName,
  proposeLocations,
} from './location-names.ts';
import { type NamedColumns, namedPair } from './named-columns.ts';
import { agree, type PlaceScore, placesByValue, scorePlaces } from './place-scores.ts';

interface ScoredPlace {
  readonly candidate: PlaceCandidate;
  readonly score: PlaceScore;
}

/** Chooses the columns: names propose, values decide. @throws INPUT_COLUMNS for a named column that is not there */
export function chooseLocation(
  head: FileHead,
  names: readonly string[],
  named: NamedColumns,
): LocationChoice {
  const { lat, lng } = namedPair(names, named);
  const isOpen = lat === undefined && lng === undefined;
  const fits = (pair: PlaceColumns) =>
    isOpen ||
    (pair.lat !== pair.lng && (lat ?? pair.lat) === pair.lat && (lng ?? pair.lng) === pair.lng);
  const rows = head.rows.filter(({ isTooLong }) => isTooLong !== true);
  const scored = proposeLocations(names, fits).map(
    (candidate): ScoredPlace => ({ candidate, score: scorePlaces(rows, candidate) }),
  );
  const byName =
    rows.length === 0 ? firstByName(scored, names) : bestByValues(scored, names, rows.length);
  if (byName?.kind === 'chosen' && !isOpen) return { ...byName, note: null };
  if (byName !== null) return byName;
  if (!isOpen) {
    // The named column has an unusual name; the other may still have a usual one.
    const axis = lat === undefined ? 'lat' : 'lng';
    const other = names.findIndex(
      (name, i) => i !== lat && i !== lng && isAxisName(plainName(name), axis),
    );
    if (other < 0) return { kind: 'none' };
    return {
      kind: 'chosen',
      place: { lat: lat ?? other, lng: lng ?? other },
      note: null,
      isByName: true,
    };
  }
  // Its first line is an answer, not names.
  if (geocoderHint(names) !== null) return { kind: 'none' };
  const byValue = placesByValue(rows, names.length).map(
    (place): ScoredPlace => ({
      candidate: { ...place, nameClass: 'qualified' },
      score: scorePlaces(rows, place),
    }),
  );
  const found = bestByValues(byValue, names, rows.length);
  const [first] = scored.filter(({ candidate }) => candidate.lat !== candidate.lng);
  if (found?.kind === 'chosen') {
    const passed = first && { place: first.candidate, verdict: first.score.verdict };
    const note = passed
      ? passedNote(names, found.place, passed, rows.length)
      : (found.note ?? takenNote(names, found.place));
    return { ...found, isByName: false, note };
  }
  if (found !== null) return found;
  if (first === undefined) return { kind: 'none' };
  // Names of degrees without any: the rows say what is wrong with each.
  return first.candidate.nameClass === 'weak' && first.score.verdict === 'no_place'
    ? { kind: 'projected', place: first.candidate }
    : {
        kind: 'chosen',
        place: first.candidate,
        note: weakNote(names, first.candidate),
        isByName: true,
      };
}

/** The best names of a file without rows. */
function firstByName(
  scored: readonly ScoredPlace[],
  names: readonly string[],
): LocationChoice | null {
  const pairs = scored.map(({ candidate }) => candidate).filter(({ lat, lng }) => lat !== lng);
  const [first, ...others] = pairs;
  if (first === undefined) return null;
  const alike = others.filter(({ nameClass }) => nameClass === first.nameClass);
  return {
    kind: 'chosen',
    place: first,
    note: notedOthers(names, first, alike) ?? weakNote(names, first),
    isByName: true,
  };
}

const rank = ({ candidate }: ScoredPlace): number => NAME_CLASSES.indexOf(candidate.nameClass);
const isOther = ({ candidate }: ScoredPlace): boolean => candidate.nameClass === 'other_place';

/** The best of the candidates by their values; null where none has places.
 * @param scored the best names first */
function bestByValues(
  scored: readonly ScoredPlace[],
  names: readonly string[],
  rows: number,
): LocationChoice | null {
  const levels = ['us', 'other_notation', 'elsewhere'] as const;
  const level = levels.find((verdict) => scored.some(({ score }) => score.verdict === verdict));
  if (level === undefined) return null;
  const usable = scored.filter(({ score }) => score.verdict === level);
  const [named] = usable as [ScoredPlace, ...ScoredPlace[]];
  // One place in all rows is that of an office, beside places that differ.
  const varied = usable.find((place) => !place.score.isConstant && !isOther(place));
  const first = named.score.isConstant && varied !== undefined ? varied : named;
  // Two columns of numbers say the same with types.
  const isPair = ({ candidate: { lat, lng } }: ScoredPlace) => lat !== lng;
  const asPair = isPair(first)
    ? undefined
    : usable.find((place) => isPair(place) && agree(place.score, first.score));
  const best = asPair ?? first;
  const rivals = usable.filter((place) => place !== best && !agree(place.score, best.score));
  const serious = rivals.filter((rival) => {
    if (rival.score.isConstant && !best.score.isConstant) return false;
    const isFuller = rival.score.filled >= best.score.filled * 2;
    if (rank(rival) === rank(best)) return rival.score.filled * 2 >= best.score.filled;
    return isFuller && !isOther(rival);
  });
  const skipped = scored.find(
    (place) =>
      rank(place) < rank(first) && !usable.includes(place) && place.candidate.nameClass !== 'weak',
  );
  const passed: PassedOver | null =
    skipped === undefined ? null : { place: skipped.candidate, verdict: skipped.score.verdict };
  if (serious.length > 0)
    return { kind: 'unclear', options: [best, ...serious].map(placeOf), skipped: null };
  // A better name with places elsewhere, or without any where the words speak of another place: which one is meant?
  if (passed !== null && (passed.verdict === 'elsewhere' || isOther(best))) {
    const options =
      passed.verdict === 'elsewhere' ? [placeOf(best), passed.place] : [placeOf(best)];
    return { kind: 'unclear', options, skipped: passed };
  }
  const note =
    passed === null
      ? (notedOthers(names, placeOf(best), rivals.map(placeOf)) ?? weakNote(names, best.candidate))
      : passedNote(names, placeOf(best), passed, rows);
  return { kind: 'chosen', place: placeOf(best), note, isByName: true };
}

const placeOf = ({ candidate: { lat, lng } }: ScoredPlace): PlaceColumns => ({ lat, lng });
