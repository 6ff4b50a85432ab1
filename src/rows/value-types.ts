import type { Value, ValueType } from '../formats/typed-value.ts';
import type { Row } from './port.ts';

/** The type of all values of a column of the input. */
export type InputColumnType = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'timestamp';

/** Finds the narrowest type of each column that fits all its values, else text.
 * @param isInferred whether columns without types may be numbers: if all texts equal their numbers printed again. A leading zero, a plus, a
 * blank, or more digits than a double holds makes the column text, so that codes stay unchanged */
export function columnTypes(count: number, isInferred: boolean) {
  const types: (InputColumnType | null)[] = new Array(count).fill(null);
  return {
    add({ fields, types: own }: Row): void {
      for (let column = 0; column < count; column++) {
        const before = types[column]!;
        const text = fields[column]!;
        if (before === 'text' || text === '') continue;
        const type = own ? typeOfValue(text, own[column]!) : isInferred ? typeOfText(text) : 'text';
        types[column] = before === null || before === type ? type : (WIDER[`${before} ${type}`] ?? 'text');
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

const typeOfNumber = (number: number): InputColumnType => (Number.isSafeInteger(number) ? 'integer' : 'number');

/** A double keeps every decimal with this many digits. */
const DIGITS_KEPT = 15;

/** Whether a double holds all digits of a text's number. */
function isExact(text: string): boolean {
  const number = Number(text);
  if (!Number.isFinite(number)) return false;
  const digits = text.replace(/e.*/i, '').replace(/^-?[0.]*|\./g, '');
  return String(number) === text || (digits.length <= DIGITS_KEPT && (number !== 0 || digits === ''));
}

/** The value of a field by its own type; null for an empty one. */
export function ownValue(text: string, type: ValueType): Value {
  if (text === '') return null;
  if (type === 'text') return text;
  if (type === 'boolean') return text.toLowerCase() === 'true';
  return type === 'number' && isExact(text) ? Number(text) : { text, type };
}

/** The value of a field by the type of its column, which all fields fit. */
export function columnValue(text: string, type: InputColumnType): Value {
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber) return text === '' ? null : Number(text);
  return ownValue(text, type);
}
