/* Removes keys from what a service sent: some services repeat a refused key in their message. Works on strings after HTTP, compression
 * and JSON were decoded: before that, the same key has too many forms. docs/reliability.md lists the forms. */

/** Shorter keys would match ordinary words; no real key is that short. */
const SHORTEST_KEY = 4;

const REDACTED = '[key]';

/** Format characters and combining marks: they are invisible, and a key could be read around them. */
const INVISIBLE = /[\p{Cf}\p{Mn}]+/gu;

/** The five characters for which HTML has names that every library knows. */
const HTML_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

export interface Redactor {
  text(text: string): string;
  /** A parsed JSON value without a key in any string, number or member name. Changes the value in place. */
  json(value: unknown): unknown;
}

/** @param skipsDetails leaves JSON members called `details` as they are, for a reader that takes no text from them */
export function makeRedactor(given: readonly string[], skipsDetails = false): Redactor {
  const keys = given.filter((key) => key.length >= SHORTEST_KEY);
  const pattern = new RegExp(keys.flatMap(makePatterns).join('|'), 'gi');
  const shortest = Math.min(...keys.map((key) => key.length));
  const mayBeNumber = keys.some((key) => !/[^\d.e+-]/i.test(key));

  function text(from: string): string {
    // No form is shorter than the key, so most strings of a bundle end here; without keys, all do.
    if (from.length < shortest) return from;
    const visible = from.replace(INVISIBLE, '');
    const rest = visible.replace(pattern, REDACTED);
    return rest === visible ? from : rest;
  }

  function json(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number')
      return mayBeNumber && text(String(value)) !== String(value) ? REDACTED : value;
    if (Array.isArray(value)) return inArray(value);
    return value instanceof Object ? inObject(value as Record<string, unknown>) : value;
  }

  function inArray(values: unknown[]): unknown[] {
    for (let index = 0; index < values.length; index++) values[index] = json(values[index]);
    return values;
  }

  function inObject(object: Record<string, unknown>): Record<string, unknown> {
    let isRenamed = false;
    for (const name of Object.keys(object)) {
      if (skipsDetails && name === 'details') continue;
      const before = object[name];
      const after = json(before);
      // Defined, not assigned: JSON may have a member called __proto__.
      if (after !== before) Object.defineProperty(object, name, { value: after });
      isRenamed ||= text(name) !== name;
    }
    return isRenamed
      ? Object.fromEntries(Object.entries(object).map(([name, value]) => [text(name), value]))
      : object;
  }

  return { text, json };
}

/** Patterns of a key: character by character, in base64 at each of the three offsets, and in hexadecimal. */
function makePatterns(key: string): string[] {
  return [
    [...key].map(characterPattern).join(''),
    ...[0, 1, 2].map((before) => base64Pattern(key, before)),
    Buffer.from(key).toString('hex'),
  ];
}

/** A character as it is, percent-encoded once or twice, escaped as in JSON, or as an entity of HTML. */
function characterPattern(character: string): string {
  const code = character.codePointAt(0)!;
  const units = Array.from({ length: character.length }, (_, index) =>
    hex(character.charCodeAt(index), 4),
  );
  // In a pattern, \uXXXX is the character and \\uXXXX are its six letters.
  const literal = units.map((unit) => `\\u${unit}`).join('');
  const forms = [
    literal,
    Array.from(Buffer.from(character), (byte) => `%(?:25)?${hex(byte, 2)}`).join(''),
    units.map((unit) => `\\\\u${unit}`).join(''),
    `&#(?:0*${code}|x0*${code.toString(16)});`,
  ];
  if ('"\\/'.includes(character)) forms.push(`\\\\${literal}`);
  if (HTML_NAMES[character]) forms.push(`&${HTML_NAMES[character]};`);
  return `(?:${forms.join('|')})`;
}

/** The base64 characters that depend only on the key, with `before` bytes before it, in both alphabets. */
function base64Pattern(key: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
  const inner = bytes
    .toString('base64')
    .slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  return inner.replaceAll('+', '[+-]').replaceAll('/', '[/_]');
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Makes a foreign text safe for a terminal, a log and a table's cell: one line, no control or direction characters, at most `most`
 * characters. */
export function cleanText(text: string, most: number): string {
  const line = text
    .slice(0, most * 8)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
