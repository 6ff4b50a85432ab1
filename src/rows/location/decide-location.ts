import { PerilbookError } from '../../base/errors.ts';
import { chooseLocation } from './choose-location.ts';
import type { FileHead } from './file-head.ts';
import { unclearError } from './location-choice.ts';
import { type LocationColumns, withCompass } from './location-columns.ts';
import {
  missingError,
  refuseLocationAsHeader,
  type SourceWords,
  withHint,
} from './location-hints.ts';
import type { PlaceColumns } from './location-names.ts';
import {
  columnsError,
  indexOfNamed,
  type NamedColumns,
  namedPair,
  refuseTwins,
  shapesText,
} from './named-columns.ts';

/** Decides which columns are the location: names propose, the values of the first rows decide. Reads nothing.
 * @param names the columns without those of an earlier run
 * @param file its name in errors
 * @throws INPUT_COLUMNS where no columns hold a location, or where it is unclear which: with the options that name them */
export function decideLocation(
  head: FileHead,
  names: readonly string[],
  named: NamedColumns,
  source: SourceWords,
  file: string,
): LocationColumns {
  const given = namedLocation(names, named, source, head);
  if (given !== null) {
    refuseLocationAsHeader(names, given, file);
    return withCompass(head, names, { place: given, note: null });
  }
  const choice = chooseLocation(head, names, named);
  switch (choice.kind) {
    case 'chosen':
      refuseLocationAsHeader(names, choice.place, file);
      if (choice.isByName) refuseTwins(names, choice.place, named);
      return withCompass(head, names, choice);
    case 'unclear':
      for (const option of choice.options) refuseLocationAsHeader(names, option, file);
      throw unclearError(names, choice);
    case 'projected': {
      const hint =
        'They look like metres or feet: convert them to degrees (EPSG:4326), or name two columns of degrees: --lat COLUMN --lng COLUMN.';
      const [lat, lng] = [names[choice.place.lat], names[choice.place.lng]];
      throw columnsError(`"${lat}" and "${lng}" hold no degrees`, names, { hint });
    }
    case 'none':
      throw withHint(missingError(names, named, source), source, names, named, head);
  }
}

/** The columns that the user names; null where some are left open. @throws INPUT_COLUMNS */
function namedLocation(
  names: readonly string[],
  named: NamedColumns,
  source: SourceWords,
  head: FileHead,
): PlaceColumns | null {
  const { shapes } = source;
  try {
    if (named.column !== undefined) {
      const both = indexOfNamed(names, named.column, 'location');
      if (shapes === undefined || shapes.column !== names[both]) return { lat: both, lng: both };
      const hint =
        'Name two columns of degrees: --lat COLUMN --lng COLUMN, or a column of points: --location COLUMN.';
      throw columnsError(shapesText(shapes), names, { column: named.column, hint });
    }
    const { lat, lng } = namedPair(names, named);
    if (lat === undefined || lng === undefined) return null;
    if (lat !== lng) return { lat, lng };
    throw columnsError(`Latitude and longitude are both column "${names[lat]}"`, names);
  } catch (error) {
    throw error instanceof PerilbookError ? withHint(error, source, names, named, head) : error;
  }
}
