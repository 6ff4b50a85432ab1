/*
 * Removes keys from what a service sent: some services repeat a refused key in their message. Works on strings after HTTP,
 * compression and JSON were decoded: before that, the same key has too many forms.
 */
import { canonical, type DecodedLayer, layersOf, textsOf } from './decoded-layers.ts';

/** Shorter keys would match ordinary words; no real key is that short. */
const SHORTEST_KEY = 4;

const REDACTED = '[key]';

/** A longer text that contains a key is replaced as a whole. */
const LONGEST_SEARCHED = 64 * 1024;

/** Removes certain keys, in any encoding, from parts of a service's answer. */
export interface Redactor {
  text(text: string): string;
  /** A parsed JSON value without a key in any string, number or member name. Changes the value in place. */
  json(value: unknown): unknown;
}

/** Every request and every body needs one, mostly for the same keys. */
const made = new Map<string, Redactor>();
const MOST_KEPT = 16;

export function redactorOf(keys: readonly string[]): Redactor {
  // A key has no line break: a header could not carry it.
  const name = keys.join('\n');
  const known = made.get(name);
  if (known !== undefined) return known;
  if (made.size >= MOST_KEPT) made.clear();
  const redactor = createRedactor(keys);
  made.set(name, redactor);
  return redactor;
}

function createRedactor(keys: readonly string[]): Redactor {
  const real = keys.filter((key) => key.length >= SHORTEST_KEY);
  const forms = [...new Set(real.flatMap(formsOf))];
  const shortest = Math.min(...forms.map((form) => form.length));
  const mayBeNumber = real.some((key) => /^[\d.e+-]+$/i.test(key));

  function text(from: string): string {
    // A key in any encoding is no shorter than its shortest form: nearly every string of a bundle is done here.
    if (from.length < shortest) return from;
    if (!textsOf(from).some((decoded) => forms.some((form) => decoded.includes(form)))) return from;
    // The positions take 16 bytes a character and layer.
    if (from.length > LONGEST_SEARCHED) return REDACTED;
    const spans = layersOf(from).flatMap((layer) => forms.flatMap((form) => spansOf(layer, form)));
    return spans.length === 0 ? REDACTED : withoutSpans(from, spans);
  }

  function json(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return mayBeNumber && text(String(value)) !== String(value) ? REDACTED : value;
    if (Array.isArray(value)) return inArray(value);
    return typeof value === 'object' && value !== null ? inObject(value as Record<string, unknown>) : value;
  }

  function inArray(values: unknown[]): unknown[] {
    for (let index = 0; index < values.length; index++) {
      const before = values[index];
      const after = json(before);
      if (after !== before) values[index] = after;
    }
    return values;
  }

  function inObject(object: Record<string, unknown>): Record<string, unknown> {
    let isRenamed = false;
    for (const name of Object.keys(object)) {
      const before = object[name];
      const after = json(before);
      // Defined, not assigned: JSON may have a member called __proto__.
      if (after !== before) Object.defineProperty(object, name, { ...PLAIN, value: after });
      isRenamed ||= text(name) !== name;
    }
    return isRenamed ? Object.fromEntries(Object.entries(object).map(([name, value]) => [text(name), value])) : object;
  }

  return forms.length === 0 ? { text: (from) => from, json: (value) => value } : { text, json };
}

const PLAIN = { writable: true, enumerable: true, configurable: true };

/** The forms of a key in decoded text: as it is, in base64 at each of the three offsets, and in hexadecimal. */
function formsOf(key: string): string[] {
  const encoded = encodeURIComponent(key);
  const inBase64 = encoded === key ? [key] : [key, encoded];
  const forms = [
    key,
    ...inBase64.flatMap((text) => [0, 1, 2].map((before) => base64Form(text, before))),
    Buffer.from(key).toString('hex'),
  ];
  return forms.flatMap((form) => canonical(form)).filter((form) => form.length >= SHORTEST_KEY);
}

/** The base64 characters that depend on the text alone where so many bytes come before it. */
function base64Form(text: string, before: number): string {
  const encoded = Buffer.from(' '.repeat(before) + text).toString('base64');
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + text.length) * 8) / 6));
}

type TextSpan = readonly [from: number, to: number];

/** Where a form occurs in a layer, as positions in the original text. */
function spansOf({ text, starts, ends }: DecodedLayer, form: string): TextSpan[] {
  const spans: TextSpan[] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
    const last = at + form.length - 1;
    spans.push(starts === null ? [at, last + 1] : [starts[at]!, ends![last]!]);
  }
  return spans;
}

function withoutSpans(text: string, spans: TextSpan[]): string {
  let rest = '';
  let done = 0;
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    if (from >= done) rest += text.slice(done, from) + REDACTED;
    done = Math.max(done, to);
  }
  return rest + text.slice(done);
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
