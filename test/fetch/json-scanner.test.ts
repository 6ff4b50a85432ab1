import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_JSON_DEPTH, MAX_JSON_PARTS } from '../../src/contract/body-limits.ts';
import { InvalidJson, JsonScanner } from '../../src/fetch/json-scanner.ts';
import { fc } from '../properties.ts';
import { times } from '../tier.ts';
import { anyJson, bodyOf } from './json-texts.ts';

function accepts(body: Buffer): boolean {
  const scanner = new JsonScanner(body);
  try {
    return scanner.space(scanner.value(0, 0)) === body.length;
  } catch (error) {
    assert.ok(error instanceof InvalidJson);
    return false;
  }
}

function isParsed(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}

test('accepts what JSON.parse accepts, and nothing else', () => {
  let accepted = 0;
  const numRuns = times({ short: 1_500, faults: 20_000 });
  fc.assert(
    fc.property(bodyOf(anyJson), (body) => {
      assert.equal(accepts(body), isParsed(body), body.toString());
      if (accepts(body)) accepted++;
    }),
    { numRuns, seed: 8 },
  );
  assert.ok(accepted > numRuns / 5 && accepted < numRuns);
});

test('so it does for any short text of the letters of JSON', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'"\\/bu0aAtruefalsn1.-+eE[]{},: \n\u00e9'), maxLength: 12 });
  fc.assert(
    fc.property(letters, (text) => {
      assert.equal(accepts(Buffer.from(text)), isParsed(Buffer.from(text)), text);
    }),
    { numRuns: times({ short: 3_000, faults: 30_000 }), seed: 8 },
  );
});

for (const text of [
  ...[
    '',
    ' ',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '1e+',
    '+1',
    'NaN',
    'tru',
    'nulll',
    "'a'",
    '"\t"',
    '"\\x41"',
    '"\\u12g4"',
    '"\\u00',
    '"a',
  ],
  ...[
    '[1,]',
    '[,1]',
    '[1 2]',
    '[',
    ']',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a":1 "b":2}',
    '[}',
    '{]',
    '1 2',
    '\ufeff1',
  ],
]) {
  test(`refuses ${JSON.stringify(text)}`, () => {
    assert.equal(isParsed(Buffer.from(text)), false);
    assert.equal(accepts(Buffer.from(text)), false);
  });
}

test('accepts invalid UTF-8 inside strings, as a decoder replaces it', () => {
  for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
    const body = Buffer.from([0x22, ...bytes, 0x22]);
    assert.equal(isParsed(body), true);
    assert.equal(accepts(body), true);
  }
});

test('finds each byte at each place of a string, whatever stands around it', () => {
  for (const around of [0x21, 0x23, 0x5b, 0x7f, 0x80, 0xa2, 0xff]) {
    for (let place = 0; place < 9; place++) {
      for (let byte = 0; byte < 256; byte++) {
        const body = Buffer.alloc(11, around);
        body.set([0x22], 0);
        body.set([0x22], 10);
        body[1 + place] = byte;
        // In a list, so that a string which ends too early is followed by something else than the end.
        const list = Buffer.concat([Buffer.from('['), body, Buffer.from(',1]')]);
        assert.equal(accepts(list), isParsed(list), `${byte} at ${place} among ${around}`);
      }
    }
  }
});

test('refuses more nesting and more parts than may be parsed', () => {
  const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
  assert.equal(accepts(nested(MAX_JSON_DEPTH)), true);
  assert.equal(accepts(nested(MAX_JSON_DEPTH + 1)), false);
  const parts = (count: number) => Buffer.from(`[${'[],'.repeat(count - 2)}[]]`);
  assert.equal(accepts(parts(MAX_JSON_PARTS)), true);
  assert.equal(accepts(parts(MAX_JSON_PARTS + 1)), false);
});
