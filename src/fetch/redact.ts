/** Shorter keys would tear holes into ordinary words; no real key is that short. */
const SHORTEST_KEY = 4;

const REDACTED = '[key]';

/** Takes the key out of a text that the service sent: some services repeat a refused key in their message. */
export function redact(text: string, key: string): string {
  return key.length < SHORTEST_KEY ? text : text.replaceAll(key, REDACTED);
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
