import { isObject } from './ndjson-columns.ts';

interface ExactJson {
  rawJSON(text: string): unknown;
  parse(text: string, reviver: (key: string, value: unknown, context: { source: string }) => unknown): unknown;
}

/** The type library does not know these two yet. */
const exactJson = JSON as unknown as ExactJson;

/** What may be a number that JavaScript rounds: many digits, with or without a point between them, or an exponent. */
const LONG_NUMBER = /\d{16}|[\d.]{17}|\de[+-]?\d/i;

/** Reads an object; null for anything else. Numbers that JavaScript would round keep their digits. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = LONG_NUMBER.test(text) ? exactJson.parse(text, keepDigits) : JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function keepDigits(_: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? exactJson.rawJSON(source) : value;
}
