import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanText, makeRedactor } from '../../src/client/redact.ts';
import { anyKey, asWhole, inCharacters, keyFinder } from '../faults/key-traces.ts';
import { fc } from '../properties.ts';

/** fast-check prints the seed of what fails. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 150);

const around = fc.constantFrom(
  '',
  ' ',
  'No such key: ',
  '"',
  ' (again)',
  '\n',
  'https://h.example/?key=',
);

for (const [how, writings] of [
  ['with its characters written in any two of the listed ways', inCharacters],
  ['as a whole in base64, hexadecimal and the other listed encodings', asWhole],
] as const) {
  test(`any key ${how} is taken out of any text`, () => {
    const texts = anyKey.chain((key) => fc.tuple(fc.constant(key), around, writings(key)));
    fc.assert(
      fc.property(texts, ([key, before, written]) => {
        const text = `${before}${written} and more`;
        const rest = makeRedactor([key]).text(text);
        assert.match(rest, /\[key\]/, text);
        assert.equal(keyFinder(key)(Buffer.from(rest)), null, text);
      }),
      { numRuns: RUNS },
    );
  });
}

test('invisible letters and marks do not hide a key', () => {
  const { text } = makeRedactor(['k3y/with+odd=chars']);
  for (const mark of [
    '\u200b',
    '\u00ad',
    '\u2066',
    '\ufe0f',
    '\u034f',
    '\u0301',
    '\u{e0061}',
    '\u{e0101}',
  ]) {
    const hidden = [...'k3y/with+odd=chars'].join(mark);
    assert.equal(
      text(`No such key: ${hidden}!`),
      'No such key: [key]!',
      mark.codePointAt(0)!.toString(16),
    );
  }
  assert.equal(text('cafe\u0301 and \u200b, no key'), 'cafe\u0301 and \u200b, no key');
});

test('only the key goes, and what stands around it stays', () => {
  const { text } = makeRedactor(['k3y/with+odd=chars', 'second-key']);
  for (const [from, to] of [
    ['No such key: k3y/with+odd=chars!', 'No such key: [key]!'],
    ['?key=k3y%2fwith%2Bodd%3dchars&x=1', '?key=[key]&x=1'],
    ['twice k3y/with+odd=chars second-key', 'twice [key] [key]'],
    ['a &lt; b, k3y\\/with\\u002bodd=chars', 'a &lt; b, [key]'],
    ['?key=k3y%252Fwith%252bodd=chars', '?key=[key]'],
    ['K3Y/WITH+ODD=CHARS', '[key]'],
    ['k3y/with+odd', 'k3y/with+odd'],
    ['C:\\k3y/with+odd=chars', 'C:\\[key]'],
  ] as const) {
    assert.equal(text(from), to);
  }
});

test('in parsed JSON: strings, member names, and numbers where a key is one', () => {
  const { json } = makeRedactor(['k3y/with+odd=chars', '1234567890123']);
  const said =
    '{"a":["k3y\\/with\\u002Bodd=chars",1,null],"x k3y/with+odd=chars":{"__proto__":"1234567890123"},"n":1234567890123}';
  const shown = JSON.parse('{"a":["[key]",1,null],"x [key]":{"__proto__":"[key]"},"n":"[key]"}');
  assert.deepEqual(json(JSON.parse(said)), shown);
  const row = Array.from({ length: 1_300 }, () => true);
  const rest = makeRedactor(['1234']).json([51234.5, ...row]);
  assert.deepEqual(rest, ['[key]', ...row], 'a place in an array is no member name');
  const value = { a: [1.5, 'x'.repeat(100)], b: {} };
  assert.equal(json(value), value, 'without a copy where there is no key');
});

test('details that nobody reads are left out of the search, and nothing else', () => {
  const value = () =>
    JSON.parse('{"details":["k3y/with+odd=chars"],"value":{"title":"k3y/with+odd=chars"}}');
  const read = makeRedactor(['k3y/with+odd=chars'], true).json(value());
  assert.deepEqual(read, { details: ['k3y/with+odd=chars'], value: { title: '[key]' } });
  const all = makeRedactor(['k3y/with+odd=chars']).json(value());
  assert.deepEqual(all, { details: ['[key]'], value: { title: '[key]' } });
});

test('a key of one, two or three characters would be part of ordinary words, and is left', () => {
  assert.equal(makeRedactor(['abc', '']).text('abc'), 'abc');
  assert.equal(makeRedactor(['abc', 'abcd']).text('abcd abc'), '[key] abc');
});

test('a foreign text becomes one line of bounded length, and no character of it is halved', () => {
  for (const [from, to] of [
    ['  five\u202e\n5\r\n\t', 'five 5'],
    ['seven 7', 'seven 7'],
    ['\u{1f600}'.repeat(7), '\u{1f600}'.repeat(7)],
    ['\u{1f600}'.repeat(8), `${'\u{1f600}'.repeat(6)}…`],
  ] as const) {
    assert.equal(cleanText(from, 7), to);
  }
});
