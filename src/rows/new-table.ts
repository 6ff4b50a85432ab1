import type { Field } from '../contract/answer.ts';
import { type FormatMaking, formatNamed } from './file-formats.ts';
import type { InputFile } from './files/input-file.ts';
import { rowFields } from './placed-fields.ts';
import type { AddedColumn, NewTable, RowFile, TableTarget, WriteRequest, WriteResult } from './port.ts';

/** Writes a table whole or not at all: to a path, or to `stdout` where it is `-`. */
export async function writeTable(
  table: NewTable,
  format: string,
  target: TableTarget,
  source: InputFile | null = null,
): Promise<WriteResult> {
  return await formatNamed(format).making!.write(table, target, source);
}

/** The rows of a file with their added fields, for a format that is not the file's own: its values are texts, or numbers in
 * the columns that the run has read as numbers. The file's own columns come first, then the added ones. */
export async function tableOfRows(
  opened: RowFile,
  request: WriteRequest,
  { isTyped, hasDistinctNames }: Pick<FormatMaking, 'isTyped' | 'hasDistinctNames'>,
): Promise<NewTable> {
  const rowFile = (await opened.entire?.()) ?? opened;
  const whole = rowFile.wholeColumns ?? [...rowFile.columns.keys()];
  const known = opened.columns.length;
  const dropFrom = request.dropFrom ?? known;
  const indexes = whole.filter((index) => index < dropFrom || index >= known);
  const given = indexes.map((index) => rowFile.columns[index]!);
  const names = hasDistinctNames ? distinctNames(given, request.added) : given;
  const isNumber = indexes.map((index) => isTyped && request.numbers?.has(index) === true);
  const own = names.map(
    (name, index): AddedColumn => ({ name, type: isNumber[index] ? 'number' : 'text', keeps: indexes[index]! }),
  );
  return {
    columns: [...own, ...request.added],
    async *batches() {
      const nextFields = rowFields(request);
      for await (const rows of rowFile.read(indexes)) {
        request.signal?.throwIfAborted();
        const added = await nextFields(rows.length);
        yield rows.map(({ fields }, row) => [
          ...(isTyped ? fields.map((text, index) => typed(text, isNumber[index]!)) : fields),
          ...added[row]!,
        ]);
      }
    },
  };
}

function typed(text: string, isNumber: boolean): Field {
  if (isNumber) return text.trim() === '' ? null : Number(text);
  return text === '' ? null : text;
}

/** Many readers of Parquet cannot tell two columns of one name apart, whatever its case, or do not take an empty name; and of
 * two members of one name readers of JSON keep the last. */
function distinctNames(names: readonly string[], added: readonly AddedColumn[]): string[] {
  const taken = new Set(added.map(({ name }) => name.toLowerCase()));
  return names.map((given, index) => {
    const stem = given === '' ? `column_${index + 1}` : given;
    let name = stem;
    for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${stem}_${copy}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
