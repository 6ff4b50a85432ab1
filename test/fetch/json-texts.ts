import { fc } from '../properties.ts';

const NUMBERS = [
  '0',
  '-0',
  '7',
  '-12.5',
  '0.1',
  '1e2',
  '-1E+2',
  '2.5e-3',
  '1e400',
  '123456789012345678901',
  '29.760400000000000001',
];
const NAMES = ['a', '', 'details', 'features', 'geometry', '__proto__', 'größe', 'f\\"', '\\u0041', '0'];

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ');

/** A text with spaces where JSON allows them. */
export function spaced(...parts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(space, { minLength: parts.length + 1, maxLength: parts.length + 1 }).map((spaces) => {
    return parts.reduce((text, part, index) => text + part + spaces[index + 1], spaces[0]!);
  });
}

/** A name or a text in quotes; sometimes a letter of it is escaped. */
export function quoted(text: string): fc.Arbitrary<string> {
  return fc.nat({ max: 3 * text.length }).map((at) => {
    const letter = text[at];
    if (letter === undefined || !/[a-z]/.test(letter)) return `"${text}"`;
    const escaped = `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
    return `"${text.slice(0, at)}${escaped}${text.slice(at + 1)}"`;
  });
}

export function listOf(items: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(...items)
    .chain((texts) => spaced('[', ...texts.flatMap((text, at) => (at === 0 ? [text] : [',', text])), ']'));
}

/** An object with these members in this order; a name may stand twice. */
export function objectOf(members: readonly (readonly [string, fc.Arbitrary<string>])[]): fc.Arbitrary<string> {
  const texts = members.map(([name, value]) =>
    fc
      .tuple(/["\\]/.test(name) ? fc.constant(`"${name}"`) : quoted(name), value)
      .chain(([key, text]) => spaced(key, ':', text)),
  );
  return fc
    .tuple(...texts)
    .chain((parts) => spaced('{', ...parts.flatMap((text, at) => (at === 0 ? [text] : [',', text])), '}'));
}

export const scalar: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '""', '"\\ud83d"', '"é\\n\\/"', '"[1,2"', ...NUMBERS),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
);

/** The text of any JSON value. */
export const anyJson: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }).chain((items) => listOf(items.map((item) => fc.constant(item)))),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 4 })
      .chain((members) => objectOf(members.map(([name, value]) => [name, fc.constant(value)]))),
  ),
})).value;

/** A body of this text, or one that was damaged: cut, or with a byte removed, put in or replaced; some are not valid UTF-8. */
export function bodyOf(text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const byte = fc.oneof(fc.constantFrom(...Buffer.from('"\\[]{},:0-e. \0\x1f')), fc.integer({ min: 0, max: 255 }));
  const change = fc.constantFrom('none', 'none', 'cut', 'remove', 'insert', 'replace', 'mark');
  return fc.tuple(text, change, fc.nat(), byte).map(([json, how, place, put]) => {
    const bytes = Buffer.from(json);
    const at = place % (bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    if (how === 'cut') return before;
    if (how === 'remove') return Buffer.concat([before, after.subarray(1)]);
    if (how === 'insert') return Buffer.concat([before, Buffer.of(put), after]);
    if (how === 'replace') return Buffer.concat([before, Buffer.of(put), after.subarray(1)]);
    return how === 'mark' ? Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes]) : bytes;
  });
}
