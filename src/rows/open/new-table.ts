import type { Value, ValueType } from '../../formats/typed-value.ts';
import { rowFields } from '../placed-fields.ts';
import type { NewTable, OutputShape, Row, RowFile, TableColumn, WriteRequest } from '../port.ts';
import { type FormatMaking, makingOf } from './file-formats.ts';

/** Refuses a table that a new file of the format has no room for. @throws OUTPUT_UNWRITABLE */
export async function checkNewTable(
  opened: RowFile,
  format: string,
  shape: OutputShape,
): Promise<void> {
  const { checkRoom } = makingOf(shape.output, format);
  if (checkRoom === undefined) return;
  const { indexes } = await ownColumns(opened, shape);
  await checkRoom(
    shape.output,
    shape.rows,
    indexes.length + shape.added.length + (shape.kept?.length ?? 0),
  );
}

/** The rows of a file with their added fields, for a format that is not the file's own: values keep the types that both formats have.
 * The file's own columns come first, then the added ones. */
export async function tableOfRows(
  opened: RowFile,
  request: WriteRequest,
  { typesOf, hasDistinctNames }: Pick<FormatMaking, 'typesOf' | 'hasDistinctNames'>,
): Promise<NewTable> {
  const { rowFile, indexes } = await ownColumns(opened, request);
  const given = indexes.map((index) => rowFile.columns[index]!);
  const names = hasDistinctNames ? distinctNames(given, request.added) : given;
  const types = await typesFor(rowFile, indexes, request, typesOf);
  const own = names.map(
    (name, index): TableColumn => ({
      name,
      type: types?.[index] ?? 'text',
      keeps: indexes[index]!,
    }),
  );
  return {
    columns: [...own, ...request.added],
    async *batches() {
      const nextFields = rowFields(request);
      for await (const rows of rowFile.read(indexes)) {
        request.signal?.throwIfAborted();
        const added = await nextFields(rows.length);
        yield rows.map(({ fields, types: ofFields }, row) => [
          ...(typesOf === 'none'
            ? fields
            : fields.map((text, index) => {
                const type = types?.[index];
                return type ? columnValue(text, type) : ownValue(text, ofFields![index]!);
              })),
          ...added[row]!,
        ]);
      }
    },
  };
}

/** A file with the columns of all its rows, and those that a new file keeps. */
async function ownColumns(opened: RowFile, request: Pick<WriteRequest, 'dropFrom' | 'added'>) {
  const rowFile = (await opened.entire?.()) ?? opened;
  const whole = rowFile.wholeColumns ?? [...rowFile.columns.keys()];
  const width = opened.columns.length;
  const dropFrom = request.dropFrom ?? width;
  // Beside the geometry of a feature, points in binary are of no use; their degrees are for rows without a location.
  const hasGeometry = request.added.some(({ type }) => type === 'point');
  const indexes = whole
    .filter((index) => index < dropFrom || index >= width)
    .flatMap((index) => {
      const coordinates = (hasGeometry && rowFile.coordinatesOf?.(index)) || [];
      return coordinates.length > 0 ? coordinates : [index];
    });
  return { rowFile, indexes };
}

/** The types of the columns, if values have no types of their own. Finding them takes an extra pass. */
async function typesFor(
  rowFile: RowFile,
  indexes: readonly number[],
  { numbers, types, signal }: WriteRequest,
  typesOf: FormatMaking['typesOf'],
): Promise<readonly (InputColumnType | undefined)[] | null> {
  if (typesOf === 'none') return null;
  // Locations and values are numbers in any notation.
  const measured = (index: number) => (numbers?.has(index) === true ? 'number' : undefined);
  if (rowFile.hasTypes === true && typesOf === 'values') return indexes.map(measured);
  const inferred = columnTypes(indexes.length, types !== 'text');
  if (rowFile.hasTypes === true || types !== 'text') {
    for await (const rows of rowFile.read(indexes)) {
      signal?.throwIfAborted();
      for (const row of rows) inferred.add(row);
    }
  }
  const all = inferred.types();
  return indexes.map((index, at) => measured(index) ?? all[at]);
}

/** Many readers of Parquet cannot distinguish two columns whose names differ only in case, or refuse an empty name. Readers of
 * JSON keep only the last of two members with one name. */
function distinctNames(names: readonly string[], added: readonly TableColumn[]): string[] {
  const taken = new Set(added.map(({ name }) => name.toLowerCase()));
  return names.map((given, index) => {
    const stem = given === '' ? `column_${index + 1}` : given;
    let name = stem;
    for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${stem}_${copy}`;
    taken.add(name.toLowerCase());
    return name;
  });
}

/** The type of all values of a column of the input. */
type InputColumnType = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'timestamp';

/** Finds the types of columns, row by row. */
interface TypeFinder {
  add(row: Row): void;
  types(): readonly InputColumnType[];
}

/** Finds the narrowest type of each column that fits all its values, else text.
 * @param isInferred whether columns without types may be numbers: if all texts equal their numbers printed again. A leading zero, a plus, a
 * blank, or more digits than a double holds makes the column text, so that codes stay unchanged */
export function columnTypes(count: number, isInferred: boolean): TypeFinder {
  const types: (InputColumnType | null)[] = new Array(count).fill(null);
  return {
    add({ fields, types: own }: Row): void {
      for (let column = 0; column < count; column++) {
        const before = types[column]!;
        const text = fields[column]!;
        if (before === 'text' || text === '') continue;
        const type = own ? typeOfValue(text, own[column]!) : isInferred ? typeOfText(text) : 'text';
        types[column] =
          before === null || before === type ? type : (WIDER[`${before} ${type}`] ?? 'text');
      }
    },
    types: (): InputColumnType[] => types.map((type) => type ?? 'text'),
  };
}

const WIDER: Readonly<Record<string, InputColumnType>> = {
  'integer number': 'number',
  'number integer': 'number',
  'date timestamp': 'timestamp',
  'timestamp date': 'timestamp',
};

function typeOfText(text: string): InputColumnType {
  const number = Number(text);
  return String(number) === text && Number.isFinite(number) ? typeOfNumber(number) : 'text';
}

function typeOfValue(text: string, type: ValueType): InputColumnType {
  if (type === 'number') return isExact(text) ? typeOfNumber(Number(text)) : 'text';
  // A table's column has one time zone; its lists and objects are texts.
  return type === 'json' || (type === 'timestamp' && text.endsWith('Z')) ? 'text' : type;
}

const typeOfNumber = (number: number): InputColumnType =>
  Number.isSafeInteger(number) ? 'integer' : 'number';

/** A double keeps every decimal with this many digits. */
const DIGITS_KEPT = 15;

/** Whether a double holds all digits of a text's number. */
function isExact(text: string): boolean {
  const number = Number(text);
  if (!Number.isFinite(number)) return false;
  const digits = text.replace(/e.*/i, '').replace(/^-?[0.]*|\./g, '');
  return (
    String(number) === text || (digits.length <= DIGITS_KEPT && (number !== 0 || digits === ''))
  );
}

/** The value of a field by its own type; null for an empty one. */
function ownValue(text: string, type: ValueType): Value {
  if (text === '') return null;
  if (type === 'text') return text;
  if (type === 'boolean') return text.toLowerCase() === 'true';
  return type === 'number' && isExact(text) ? Number(text) : { text, type };
}

/** The value of a field by the type of its column, which all fields fit. */
function columnValue(text: string, type: InputColumnType): Value {
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber) return text === '' ? null : Number(text);
  return ownValue(text, type);
}
