import type { Field } from '../contract/answer.ts';
import { filledRows } from './filled-rows.ts';
import type { AddedColumn, Row, WriteRequest } from './port.ts';

/**
 * The request with the kept columns of an earlier run among the added ones: all that the file has in its old order, the new
 * ones behind. A kept field is what the row has; so rows do not share their fields, and `fillKeyed` is of no use.
 *
 * @param names the columns of the file
 */
export function withKeptColumns(request: WriteRequest, names: readonly string[]): WriteRequest {
  const { kept = [], added, columns, dropFrom } = request;
  if (kept.length === 0 || dropFrom === null) return request;
  const placeOf = ({ name, keeps }: AddedColumn) => keeps ?? names.indexOf(name, dropFrom);
  const sources = [...added.keys()].map((index) => ({ column: added[index]!, index, from: 'added' as const }));
  const all = [...sources, ...kept.map((column, index) => ({ column, index, from: 'kept' as const }))]
    .map((source) => ({ ...source, place: placeOf(source.column) }))
    .sort((a, b) => (a.place < 0 ? names.length : a.place) - (b.place < 0 ? names.length : b.place));
  const { fillKeyed: _, kept: __, ...rest } = request;
  return {
    ...rest,
    added: all.map(({ column }) => column),
    columns: [...columns, ...kept.map(({ keeps }) => keeps)],
    fill: async (rows) => {
      const filled = await filledRows(request, rows);
      return rows.map((row, at) =>
        all.map(({ column, index, from }) =>
          from === 'added' ? filled[at]![index]! : keptField(row, columns.length + index, column),
        ),
      );
    },
  };
}

/** Which of the added fields are kept ones, by their place; `before` fields stand before them. */
export function keptPlaces({ added }: WriteRequest, before = 0): ReadonlySet<number> {
  return new Set(added.flatMap(({ keeps }, index) => (keeps === undefined ? [] : [before + index])));
}

/** Numbers are numbers again where a format has types; any other text stays a text. */
function keptField({ fields }: Row, index: number, { type }: AddedColumn): Field {
  const text = fields[index] ?? '';
  if (text === '') return null;
  return (type === 'number' || type === 'count') && String(Number(text)) === text ? Number(text) : text;
}
