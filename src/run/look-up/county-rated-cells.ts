import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import { createCountyRatedCheck } from '../../data/lookup/county-rated-places.ts';
import { openDataReadOnly } from '../../data/tables/data-database.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { LocalData, OriginNotes } from './local-data.ts';

/** Finds the places that get the rating of their county in place of one of their tract. */
export function countyRatedCells(
  { file, countyRatings }: Pick<LocalData, 'file' | 'countyRatings'>,
  topics: readonly TopicSlug[],
  cells: CellTable,
): OriginNotes['isOfCounty'] {
  if (countyRatings === null || !topics.some((topic) => topicOf(topic).category === 'natural')) return () => false;
  if (countyRatings.isEverywhere) return () => true;
  using database = openDataReadOnly(file);
  const marks = new Uint8Array(cells.size);
  database.transaction(() => {
    const isOfCounty = createCountyRatedCheck(database);
    for (let cell = 0; cell < cells.size; cell++) if (isOfCounty(locationOf(cells.cell(cell)))) marks[cell] = 1;
  })();
  return (cell) => marks[cell] === 1;
}
