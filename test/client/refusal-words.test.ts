import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseContent } from '../../src/client/content.ts';
import { makeRedactor } from '../../src/client/redact.ts';
import { bodyWords } from '../../src/client/refusal-words.ts';
import { envelopeOf, findVerdict, NOW, PLACE, received, WILDFIRE } from './answers.ts';

const wordsOf = (body: unknown): string =>
  bodyWords(parseContent(Buffer.from(JSON.stringify(body)), makeRedactor([])));

/** A text in so many objects. */
const nested = (text: string, depth: number): unknown =>
  depth === 0 ? text : { inner: nested(text, depth - 1) };

test('the words of a body are its texts, down to the sixth level, beside whatever else it has', () => {
  assert.equal(wordsOf({ none: null, yes: true, count: 3, list: ['a', null, 'b'] }), 'a . b');
  assert.equal(wordsOf(nested('deep', 6)), 'deep');
  assert.equal(wordsOf(nested('deep', 7)), '');
  assert.equal(wordsOf({ a: 'x'.repeat(5_000) }), 'x'.repeat(4_000));
  assert.equal(wordsOf({ a: 'x'.repeat(3_000), b: 'y'.repeat(3_000) }).length, 4_000);
  assert.equal(wordsOf(['see https://h.example/limit now', 'b']), 'see   now . b');
});

test('an answer without data that says that a quota is used up is a limit, which names no scope', () => {
  const { meta } = envelopeOf(WILDFIRE);
  const error = { code: 'QUOTA_EXCEEDED', message: 'Daily quota exceeded' };
  const exchange = received(200, { meta, data: null, error });
  const verdict = findVerdict(exchange, WILDFIRE, PLACE, NOW);
  assert.ok(verdict.kind === 'limit');
  assert.equal(verdict.status, 200);
  assert.equal(verdict.isScopeNamed, false);
  assert.match(verdict.reason, /^The service says that a quota is used up/);
  assert.equal(verdict.reason, verdict.message);
  assert.equal(verdict.charged, meta.credit_cost);
});
