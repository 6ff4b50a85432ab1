import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_BODY_BYTES, parseContent } from '../../src/client/content.ts';
import { makeRedactor } from '../../src/client/redact.ts';
import type { Call } from '../../src/contract/credits.ts';
import { fc } from '../properties.ts';
import { LONG, SHORT } from '../tier.ts';
import { ENTERPRISE, envelopeOf, findVerdict, PLACE, STANDARD, WILDFIRE } from './answers.ts';
import { clientOf, serveHttp } from './servers.ts';

const read = (text: string | Buffer) =>
  parseContent(Buffer.from(text), makeRedactor(['k3y/with+odd=chars']));

const cut = fc.json().map((text) => text.slice(1));
const anyText = fc.oneof(fc.json(), cut, fc.string());

test('any JSON is read as JSON.parse reads it, anything else is text', SHORT, () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        const decoded = Buffer.from(text).toString();
        return assert.deepEqual(read(text), { kind: 'text', text: decoded.replace(/^\ufeff/, '') });
      }
      assert.deepEqual(read(text), { kind: 'json', value });
    }),
  );
});

test('numbers that are none (NaN, Infinity), as Python writes them, are null; in texts they stay', () => {
  for (const [text, value] of [
    ['{"a":NaN,"b":[-Infinity, Infinity ,1]}', { a: null, b: [null, null, 1] }],
    [
      '{"NaN":"[NaN, 1] \\", Infinity, \\\\","b":NaN}',
      { NaN: '[NaN, 1] ", Infinity, \\', b: null },
    ],
    ['{"a":"k3y/with+odd=chars","b":NaN}', { a: '[key]', b: null }],
  ] as const)
    assert.deepEqual(read(text), { kind: 'json', value, isRepaired: true });
  for (const text of [
    'NaN',
    '{"a":NaNs}',
    '{"a":NaN',
    '{"a":+Infinity}',
    '{"a":--Infinity}',
    '{"a:NaN}',
  ])
    assert.deepEqual(read(text), { kind: 'text', text });
});

test('a body of texts without an end, and of numbers that are none, is read or refused in little time', () => {
  for (const text of [
    `{"a":${'"'.repeat(1_000_001)}NaN`,
    `{"a":"${'\\\\'.repeat(500_000)}`,
    `{"a":NaN,"b":"${'\\"'.repeat(500_000)}`,
    `{"a":NaN,"b":${' '.repeat(500_000)}x`,
    `{"a":[${'NaN,'.repeat(500_000)}0]}`,
  ])
    assert.notEqual(read(text).kind, 'unread');
});

for (const unit of ['{},', '[],', '{"a":1},']) {
  test(
    `the largest body there may be, made of nothing but ${unit} is refused before it is parsed`,
    SHORT,
    () => {
      const text = `{"data":[${unit.repeat(MAX_BODY_BYTES.enterprise / unit.length - 10)}0]}`;
      assert.deepEqual(read(text), {
        kind: 'unread',
        why: 'it has more than 2 million objects, lists and members',
      });
    },
  );
}

test(
  'a body that is nested too deep is refused before it is parsed; brackets in texts do not count',
  SHORT,
  () => {
    for (const [open, close] of ['[]', '{}'].map(
      (pair) => [pair[0] === '{' ? '{"a":' : '[', pair[1]!] as const,
    )) {
      const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
      assert.equal(read(nested(512)).kind, 'json');
      assert.deepEqual(read(nested(513)), {
        kind: 'unread',
        why: 'it is nested more than 512 deep',
      });
    }
    assert.equal(
      read(JSON.stringify({ a: `${'['.repeat(1_000)}\\"${'{'.repeat(1_000)}` })).kind,
      'json',
    );
  },
);

test(
  'a bundle of 7 MB with many features is read, and so is one of nothing but coordinates',
  LONG,
  () => {
    const texts = {
      features:
        '{"type":"Feature","geometry":{"type":"Point","coordinates":[-99.1,40.1]},"properties":{"id":1,"n":2}},',
      coordinates:
        '{"type":"Feature","geometry":{"type":"LineString","coordinates":[COORDINATES]},"properties":null},',
    };
    for (const text of Object.values(texts)) {
      const line = text.replace('COORDINATES', '[-99.1,40.1],'.repeat(1_000).slice(0, -1));
      const features = line.repeat(7e6 / line.length).slice(0, -1);
      assert.equal(read(`{"features":[${features}]}`).kind, 'json');
    }
  },
);

for (const [call, mostBytes] of [
  [WILDFIRE, MAX_BODY_BYTES.single],
  [STANDARD, MAX_BODY_BYTES.standard],
  [ENTERPRISE, MAX_BODY_BYTES.enterprise],
] as const satisfies readonly (readonly [Call, number])[]) {
  test(
    `a ${call.kind} of more than ${mostBytes / 2 ** 20} MB is an unknown charge, one of less is read`,
    // The rule is one; the largest body takes half a second.
    call.kind === 'single' ? SHORT : LONG,
    async (t) => {
      let bytes = mostBytes + 1;
      const url = await serveHttp(t, (_, response) => {
        const text = JSON.stringify(envelopeOf(call));
        response.end(text + ' '.repeat(bytes - Buffer.byteLength(text)));
      });
      const client = clientOf(t, url, {
        timeouts: { body: 60_000, headers: 60_000, total: 60_000 },
      });
      const ask = { call, location: PLACE, key: 'k3y/with+odd=chars' };
      const large = await client.send(ask);
      assert.ok(
        large.kind === 'failure' && large.code === 'BODY_TOO_LARGE' && large.reached === 'maybe',
      );
      assert.equal(findVerdict(large, call, PLACE, 0).charged, 'unknown');
      bytes = mostBytes - 1;
      const small = await client.send(ask);
      assert.equal(
        findVerdict(small, call, PLACE, 0).kind,
        'answered',
        JSON.stringify(small).slice(0, 300),
      );
    },
  );
}
