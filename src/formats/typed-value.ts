import type { Field } from '../contract/answer.ts';

/** The type of a field, which formats with types keep. Dates and timestamps are ISO 8601; a timestamp may end with `Z`. */
export type ValueType = 'text' | 'number' | 'boolean' | 'date' | 'timestamp' | 'json';

/** A value of a file with types. */
export type Value = Field | boolean | TypedText;

/** A value without a primitive form in JavaScript: a number with more digits, a date, a timestamp, a list or an object in JSON. */
export interface TypedText {
  readonly text: string;
  readonly type: 'number' | 'date' | 'timestamp' | 'json';
}

/** A value as a format without types writes it. */
export function fieldOf(value: Value): Field {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' && value !== null ? value.text : value;
}

/** Milliseconds since the epoch of a date or a timestamp, its zone ignored; NaN if JavaScript has no such time. */
export function parseMilliseconds(text: string): number {
  return Date.parse(text.length === 10 || text.endsWith('Z') ? text : `${text}Z`);
}
