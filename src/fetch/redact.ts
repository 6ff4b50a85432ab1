/** Shorter keys would tear holes into ordinary words; no real key is that short. */
const SHORTEST_KEY = 4;

const REDACTED = '[key]';

/** Takes the key out of a text that the service sent: some services repeat a refused key in their message. */
export function redact(text: string, key: string): string {
  return formsOf(key).reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

/** The same for the bytes of a body, which is handed back as it is where it does not hold the key: 7 forms in 6 MB take 3 ms. */
export function redactBytes(body: Buffer, key: string): Buffer {
  if (!formsOf(key).some((form) => body.includes(form, 0, 'latin1'))) return body;
  // Each byte a character and back again: nothing else changes.
  return Buffer.from(redact(body.toString('latin1'), key), 'latin1');
}

let lastKey = '';
let lastForms: readonly string[] = [];

/** How a key may stand in what a service repeats: as it is, in an address, in JSON, and in base64, wherever it begins in
 * what was encoded. The longest first, so that none is cut by another. */
function formsOf(key: string): readonly string[] {
  if (key.length < SHORTEST_KEY) return [];
  if (key !== lastKey) {
    const plain = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), key.replaceAll('/', '\\/')];
    const forms = new Set([...plain, ...[0, 1, 2].flatMap((before) => base64Forms(key, before))]);
    lastForms = [...forms].sort((a, b) => b.length - a.length);
    lastKey = key;
  }
  return lastForms;
}

/** The characters that a key alone decides in base64, in both alphabets, when so many bytes stand before it. */
function base64Forms(key: string, before: number): string[] {
  const text = Buffer.from(' '.repeat(before) + key).toString('base64');
  const inner = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + key.length) * 8) / 6));
  return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Makes a foreign text fit for a terminal, a log and a cell: one line, no control or direction characters, and at most
 * `most` characters. */
export function cleanText(text: string, most: number): string {
  const line = text
    .slice(0, most * 8)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join('')}…`;
}
