/*
 * How a service may write a key, and how a key is found in whatever was written. The finder is made on purpose in another way
 * than src/fetch/redact.ts: one pattern a character in place of decoding.
 */

const HTML_NAMES: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  "'": 'apos',
  '+': 'plus',
  '/': 'sol',
  '<': 'lt',
  '=': 'equals',
  '>': 'gt',
  '%': 'percnt',
  '\\': 'bsol',
};

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const literal = (character: string) => character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
const BACKSLASHES = '\\\\{1,8}';

function characterPattern(character: string): string {
  const digits = hex(character);
  const forms = [
    literal(character),
    `${BACKSLASHES}${literal(character)}`,
    `${BACKSLASHES}u00${digits}`,
    `%(?:25){0,3}${digits}`,
    `&(?:amp;){0,3}#(?:${character.charCodeAt(0)}|x${digits});?`,
  ];
  if (HTML_NAMES[character]) forms.push(`&(?:amp;){0,3}${HTML_NAMES[character]};`);
  return `(?:${forms.join('|')})`;
}

function base64Pattern(key: string, before: number): string {
  const encoded = Buffer.from('x'.repeat(before) + key).toString('base64');
  const inner = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + key.length) * 8) / 6));
  const of: Readonly<Record<string, string>> = {
    '+': `(?:${characterPattern('+')}|-)`,
    '/': `(?:${characterPattern('/')}|_)`,
  };
  return [...inner].map((character) => of[character] ?? character).join('');
}

/** A function that says how a key stands in some bytes, or null. */
export function keyFinder(key: string): (bytes: Buffer) => string | null {
  const patterns: [string, RegExp][] = [
    ['as text', new RegExp([...key].map(characterPattern).join(''), 'i')],
    ...[0, 1, 2].map((before): [string, RegExp] => ['in base64', new RegExp(base64Pattern(key, before))]),
    ['in hexadecimal', new RegExp([...key].map(hex).join('[ :]?'), 'i')],
  ];
  return (bytes) => {
    for (const encoding of ['latin1', 'utf16le'] as const) {
      const text = bytes.toString(encoding);
      for (const [how, pattern] of patterns) if (pattern.test(text)) return how;
    }
    return null;
  };
}

/** Ways to write one character, of which a writing mixes two. */
export const CHARACTER_FORMS = {
  plain: (character: string) => character,
  'percent-encoded': (character: string) => `%${hex(character).toUpperCase()}`,
  'percent-encoded in lower case': (character: string) => `%${hex(character)}`,
  'percent-encoded twice': (character: string) => `%25${hex(character)}`,
  'escaped as in JSON': (character: string) => `\\u00${hex(character)}`,
  'escaped as in JSON, upper case': (character: string) => `\\u00${hex(character).toUpperCase()}`,
  'escaped as in JSON twice': (character: string) => `\\\\u00${hex(character)}`,
  'behind a backslash': (character: string) => (/[a-z0-9]/i.test(character) ? character : `\\${character}`),
  'an entity': (character: string) => `&#${character.charCodeAt(0)};`,
  'an entity in hexadecimal': (character: string) => `&#x${hex(character)};`,
  'a named entity': (character: string) => (HTML_NAMES[character] ? `&${HTML_NAMES[character]};` : character),
  'an entity twice': (character: string) => `&amp;#${character.charCodeAt(0)};`,
} as const satisfies Record<string, (character: string) => string>;

/** Ways to write a key as a whole. */
export const WHOLE_FORMS = {
  'in base64': (key: string) => Buffer.from(key).toString('base64'),
  'in base64 behind a name': (key: string) => Buffer.from(`user:${key}`).toString('base64'),
  'in base64 between bytes': (key: string) => Buffer.from(`{"k":"${key}"}`).toString('base64'),
  'in base64 for addresses': (key: string) => Buffer.from(`a${key}`).toString('base64url'),
  'in base64, percent-encoded': (key: string) => encodeURIComponent(Buffer.from(key).toString('base64')),
  'in hexadecimal': (key: string) => Buffer.from(key).toString('hex'),
  'in upper hexadecimal': (key: string) => Buffer.from(key).toString('hex').toUpperCase(),
  'in hexadecimal with colons': (key: string) =>
    Buffer.from(key)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:'),
  'by encodeURIComponent': (key: string) => encodeURIComponent(key),
  'as a JSON string in a string': (key: string) => JSON.stringify(JSON.stringify(key)),
  'in UTF-16': (key: string) => Buffer.from(key, 'utf16le').toString('latin1'),
} as const satisfies Record<string, (key: string) => string>;

export type CharacterForm = keyof typeof CHARACTER_FORMS;
export type WholeForm = keyof typeof WHOLE_FORMS;

/** The key with each character in one form or, where `mask` says so, in another. */
export function mixed(key: string, [form, other]: readonly [CharacterForm, CharacterForm], mask: number): string {
  return [...key]
    .map((character, index) => CHARACTER_FORMS[(mask >> (index % 30)) & 1 ? other : form](character))
    .join('');
}

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
