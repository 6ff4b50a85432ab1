import type { Field } from '../contract/answer.ts';

/** What a field is beyond its text, which formats with types keep. Dates and timestamps are ISO 8601; a timestamp may end with `Z`. */
export type ValueType = 'text' | 'number' | 'boolean' | 'date' | 'timestamp' | 'json';

/** A value of a file with types. */
export type Value = Field | boolean | TypedText;

/** A value that JavaScript has no form for: a number of more digits, a date, a timestamp, a list or an object in JSON. */
export interface TypedText {
  readonly text: string;
  readonly type: 'number' | 'date' | 'timestamp' | 'json';
}

/** A value as formats without its type have it. */
export function fieldOf(value: Value): Field {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'object' && value !== null ? value.text : value;
}

/** Milliseconds since the epoch of a date or a timestamp as it stands, whatever its zone; NaN where JavaScript has no such time. */
export function millisecondsOf(text: string): number {
  return Date.parse(text.length === 10 || text.endsWith('Z') ? text : `${text}Z`);
}
