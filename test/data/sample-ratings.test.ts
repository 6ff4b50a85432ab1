import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RATINGS } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { ratingInSquare, sampleRating } from '../../src/data/topics/sample-ratings.ts';
import { fc } from '../properties.ts';

const ofCounty = (score: number) => ({
  title: 'Hail',
  rating: sampleRating(score),
  score,
  frequency: 2,
});
const locations = fc.record({
  lat: fc.double({ min: 18, max: 72, noNaN: true }),
  lng: fc.double({ min: -179, max: 146, noNaN: true }),
});

test('a rating of the sample moves by one step at most, with its score, and is the same each time', () => {
  const scores = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(scores, locations, fc.constantFrom(...NATURAL_SLUGS), (score, location, topic) => {
      const before = ofCounty(score);
      const { rating, score: moved, ...others } = ratingInSquare(before, topic, location);
      assert.ok(
        Math.abs(RATINGS.indexOf(rating) - RATINGS.indexOf(before.rating)) <= 1,
        `${score} to ${moved}`,
      );
      assert.ok(
        moved !== null && moved >= 0 && moved <= 100 && rating === sampleRating(moved),
        `${moved}`,
      );
      assert.deepEqual(others, { title: 'Hail', frequency: 2 });
      assert.deepEqual(ratingInSquare(before, topic, location), {
        ...others,
        rating,
        score: moved,
      });
    }),
  );
});

test('within a county ratings differ from square to square, not within one', () => {
  const at = (lat: number, lng: number) => ratingInSquare(ofCounty(92), 'hail', { lat, lng });
  const squares = Array.from({ length: 100 }, (_, square) =>
    at(25.51 + 0.05 * (square % 10), -80.51 + 0.05 * Math.floor(square / 10)),
  );
  const count = (rating: string) => squares.filter((square) => square.rating === rating).length;
  const counts = ['Relatively Moderate', 'Relatively High', 'Very High'].map(count);
  assert.ok(
    counts.every((found) => found > 5),
    counts.join(),
  );
  assert.deepEqual(at(25.5101, -80.5101), at(25.5499, -80.5499));
});

test('a rating without a score of its own stays', () => {
  const none = { title: 'Hail', rating: 'No Rating', score: 0, frequency: 1 } as const;
  const insufficient = {
    title: 'Hail',
    rating: 'Insufficient Data',
    score: null,
    frequency: null,
  } as const;
  for (const value of [none, insufficient]) {
    assert.equal(ratingInSquare(value, 'hail', { lat: 25, lng: -80 }), value);
  }
});
