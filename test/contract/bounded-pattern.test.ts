import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boundedPattern,
  type Fits,
  patternProblem,
} from '../../src/contract/layers/bounded-pattern.ts';

const HOURS = /may take hours/;

/** What is said of patterns that must fit the whole text, or a part of it; null: they can be used. */
const PATTERNS: readonly (readonly [source: string, fits: Fits, said: RegExp | null])[] = [
  ['A(E|O|99)', 'whole', null],
  ['V(E|[1-9]|[12]\\d|30)?', 'whole', null],
  ['\\d+(\\.\\d+)?', 'part', null],
  ['[A-Z]+( [A-Z]+)?', 'part', null],
  ['^(?!.*MINIMAL).', 'part', null],
  ['(?<zone>ae|ao) ?\\d{2,4}', 'whole', null],
  ['.*FLOOD.*ZONE', 'part', null],
  ['.*A.*B.*', 'whole', null],
  ['(ab)*c', 'part', null],
  ['.*A.*B.*', 'part', HOURS],
  ['.*A.*B.*C.*', 'whole', HOURS],
  ['(a+)+$', 'whole', HOURS],
  ['(a|a)*b', 'whole', HOURS],
  ['(\\w+ ?)+', 'whole', HOURS],
  ['(?=(a+)+$)', 'part', HOURS],
  ['(a?){30}a{30}', 'whole', HOURS],
  [`${'(a|a)'.repeat(30)}b`, 'whole', HOURS],
  ['.{0,90}.{0,90}.{0,90}.{0,90}x', 'whole', HOURS],
  ['(?:){1000000000}', 'whole', HOURS],
  ['((a{1000}){1000}){1000}', 'whole', HOURS],
  ['(', 'whole', /is not a regular expression/],
  ['(?i:a)', 'whole', /not supported here/],
  ['a'.repeat(1_001), 'whole', /at most 1000 letters/],
];

for (const [source, fits, said] of PATTERNS)
  test(`${fits} of ${source.slice(0, 30)}: ${said === null ? 'can be used' : 'is refused'}`, () => {
    const problem = patternProblem(source, fits);
    assert.ok(said === null ? problem === null : said.test(problem ?? ''), String(problem));
  });

test('a pattern fits the whole of a value or a part of a detail, in any case', () => {
  const whole = boundedPattern('a(e|o)|x', 'whole');
  assert.deepEqual(['AE', 'ao', 'x', 'aee', 'ax', ''].map(whole), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  const part = boundedPattern('^0?\\.2 ?pct|levee', 'part');
  assert.deepEqual(['0.2 PCT FLOOD', 'near LEVEE', '1 PCT'].map(part), [true, true, false]);
});

test('of a long text a test takes seconds at most: what it cannot try does not fit', () => {
  const plain = boundedPattern('zone', 'part');
  assert.equal(plain(`${'a'.repeat(1_000_000)}zone`), true);
  // 10,000 letters have 10^12 ways.
  const slow = boundedPattern('.*a.*b', 'part');
  assert.equal(slow('a'.repeat(10_000)), false);
  assert.equal(slow('xaxb'), true);
});
