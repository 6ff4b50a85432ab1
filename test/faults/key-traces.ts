/*
 * How a service may write a key, and how a key is found in whatever was written. The finder is made on purpose in another way
 * than src/client/redact.ts: it decodes the text in place of one pattern a character.
 */

import { fc } from '../properties.ts';

const HTML_NAMES: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  "'": 'apos',
  '<': 'lt',
  '>': 'gt',
};
const HTML_CHARACTERS = new Map(
  Object.entries(HTML_NAMES).map(([character, name]) => [name, character]),
);

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');

/** A text with the escapes of addresses, JSON and HTML decoded once. */
function decoded(text: string): string {
  return text.replace(
    /%([0-9a-f]{2})|\\(?:u([0-9a-f]{4})|(["\\/]))|&(?:#(\d{1,5})|#x([0-9a-f]{1,4})|(amp|lt|gt|quot|apos));/gi,
    (_, percent, unit, plain, decimal, hexadecimal, name) => {
      if (plain !== undefined) return plain;
      if (name !== undefined) return HTML_CHARACTERS.get(name.toLowerCase())!;
      const digits = percent ?? unit ?? hexadecimal;
      return String.fromCharCode(
        digits === undefined ? Number(decimal) : Number.parseInt(digits, 16),
      );
    },
  );
}

/** A function that says how a key stands in some bytes, or null. */
export function keyFinder(key: string): (bytes: Buffer) => string | null {
  const plain = key.toLowerCase();
  const inHex = Buffer.from(key).toString('hex');
  const inBase64 = [0, 1, 2].map((before) => {
    const encoded = Buffer.from('x'.repeat(before) + key).toString('base64url');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + key.length) * 8) / 6));
  });
  return (bytes) => {
    for (const encoding of ['latin1', 'utf8', 'utf16le'] as const) {
      const text = bytes.toString(encoding).replace(/[\p{Cf}\p{Mn}]/gu, '');
      if (
        [text, decoded(text), decoded(decoded(text))].some((form) =>
          form.toLowerCase().includes(plain),
        )
      )
        return 'as text';
      const forAddresses = text.replaceAll('+', '-').replaceAll('/', '_');
      if (inBase64.some((form) => forAddresses.includes(form))) return 'in base64';
      if (text.toLowerCase().includes(inHex)) return 'in hexadecimal';
    }
    return null;
  };
}

/** Ways to write one character, of which a writing mixes two. */
const CHARACTER_FORMS = {
  plain: (character: string) => character,
  'percent-encoded': (character: string) => `%${hex(character).toUpperCase()}`,
  'percent-encoded in lower case': (character: string) => `%${hex(character)}`,
  'percent-encoded twice': (character: string) => `%25${hex(character)}`,
  'escaped as in JSON': (character: string) => `\\u00${hex(character)}`,
  'escaped as in JSON, upper case': (character: string) => `\\u00${hex(character).toUpperCase()}`,
  'behind a backslash': (character: string) =>
    /["\\/]/.test(character) ? `\\${character}` : character,
  'an entity': (character: string) => `&#${character.charCodeAt(0)};`,
  'an entity in hexadecimal': (character: string) => `&#x${hex(character)};`,
  'a named entity': (character: string) =>
    HTML_NAMES[character] ? `&${HTML_NAMES[character]};` : character,
  'before an invisible space': (character: string) => `${character}\u200b`,
  'before a variation selector': (character: string) => `${character}\ufe0f`,
} as const satisfies Record<string, (character: string) => string>;

/** Ways to write a key as a whole. */
const WHOLE_FORMS = {
  'in base64': (key: string) => Buffer.from(key).toString('base64'),
  'in base64 behind a name': (key: string) => Buffer.from(`user:${key}`).toString('base64'),
  'in base64 between bytes': (key: string) => Buffer.from(`{"k":"${key}"}`).toString('base64'),
  'in base64 for addresses': (key: string) => Buffer.from(`a${key}`).toString('base64url'),
  'in hexadecimal': (key: string) => Buffer.from(key).toString('hex'),
  'in upper hexadecimal': (key: string) => Buffer.from(key).toString('hex').toUpperCase(),
  'by encodeURIComponent': (key: string) => encodeURIComponent(key),
  'by encodeURIComponent twice': (key: string) => encodeURIComponent(encodeURIComponent(key)),
  'as a JSON string': (key: string) => JSON.stringify(key),
} as const satisfies Record<string, (key: string) => string>;

/** How a key must not look: what is read as a quoted key, a comment or `NAME=key` is refused or read as another. */
const NO_KEY = /^[#"']|["']$|^(export )?\w+=/;
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
/** Whatever a header can carry, and not a word of what a service says anyway. */
export const anyKey = fc
  .string({ unit: visible, minLength: 8, maxLength: 60 })
  .filter((key) => new Set(key).size > 4 && !NO_KEY.test(key));

const form = fc.constantFrom(...(Object.keys(CHARACTER_FORMS) as (keyof typeof CHARACTER_FORMS)[]));
const wholeForm = fc.constantFrom(...(Object.keys(WHOLE_FORMS) as (keyof typeof WHOLE_FORMS)[]));

/** Writings of a key, each of its characters in one of two forms. */
export const inCharacters = (key: string): fc.Arbitrary<string> =>
  fc
    .tuple(form, form, fc.nat())
    .map(([one, other, mask]) =>
      [...key]
        .map((character, index) =>
          CHARACTER_FORMS[(mask >> (index % 30)) & 1 ? other : one](character),
        )
        .join(''),
    );

/** Writings of a key as a whole. */
export const asWhole = (key: string): fc.Arbitrary<string> =>
  wholeForm.map((how) => WHOLE_FORMS[how](key));

/** A JSON text in which some characters of its strings are escaped, as every JSON may be. */
export function escapedJson(text: string, mask: number): string {
  let index = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (string) =>
    string
      .slice(1, -1)
      .replace(/\\(?:u[0-9a-f]{4}|.)|[^\\]/g, (character) => {
        const chosen = (mask >> (index++ % 30)) & 1;
        if (!chosen || character.length > 1 || character > '~') return character;
        return character === '/' ? '\\/' : `\\u00${hex(character)}`;
      })
      .replace(/^|$/g, '"'),
  );
}
