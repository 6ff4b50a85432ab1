import type { NaturalValue, Rating } from '../../contract/topic-values.ts';
import { NATURAL_SLUGS, type NaturalSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';

/** Below which score each rating of the sample ends. As in most perils of the index, few counties are rated high. */
const RATING_BANDS: readonly (readonly [below: number, rating: Rating])[] = [
  [30, 'Very Low'],
  [60, 'Relatively Low'],
  [82, 'Relatively Moderate'],
  [96, 'Relatively High'],
  [Number.POSITIVE_INFINITY, 'Very High'],
];

/** The width of the second narrowest band: a score that moves by less crosses one border at most. */
const MOST_SHIFT = 14;

/** Squares of about 5 km, as large as the tracts of a suburb. */
const SQUARES_PER_DEGREE = 20;

/** The rating of a score of the sample. */
export function sampleRating(score: number): Rating {
  return RATING_BANDS.find(([below]) => score < below)![1];
}

/** A rating of the sample, which stores one for each county, at a location: its score differs from square to square, as that of tracts
 * does, and its rating by one step at most. The same place always has the same one. */
export function ratingInSquare(
  value: NaturalValue,
  topic: NaturalSlug,
  { lat, lng }: Location,
): NaturalValue {
  const { rating, score } = value;
  // Such as No Rating: it has no score to move.
  if (score === null || rating !== sampleRating(score)) return value;
  const [row, column] = [
    Math.floor(lat * SQUARES_PER_DEGREE),
    Math.floor(lng * SQUARES_PER_DEGREE),
  ];
  const moved = Math.abs(score + MOST_SHIFT * (2 * mixBits(row, column, NUMBERS.get(topic)!) - 1));
  const kept = Math.round((moved > 100 ? 200 - moved : moved) * 10_000) / 10_000;
  return {
    title: value.title,
    rating: sampleRating(kept),
    score: kept,
    frequency: value.frequency,
  };
}

const NUMBERS = new Map(NATURAL_SLUGS.map((topic, index) => [topic, index]));

/** A number in [0, 1) of three whole numbers, by the last steps of MurmurHash3. */
function mixBits(row: number, column: number, topic: number): number {
  let hash = 0x2545f491;
  for (const number of [row, column, topic])
    hash = Math.imul(hash ^ number, 0x9e3779b1) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
