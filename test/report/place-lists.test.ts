import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePlaceLists, PLACES_KEPT } from '../../src/report/figures/place-lists.ts';
import { HIGH, VERY_HIGH } from '../../src/report/figures/scales.ts';
import { fc } from '../properties.ts';

const NATURAL = [
  { slug: 'hail', layer: 1 },
  { slug: 'wildfire', layer: 3 },
] as const;
const LAYERS = [0, 1, 3];

const place = fc.record({
  // Few values, so that many places are equal in some respect.
  value: fc.nat(3),
  rows: fc.integer({ min: 1, max: 3 }),
  classes: fc.array(fc.integer({ min: HIGH - 1, max: VERY_HIGH + 1 }), {
    minLength: 4,
    maxLength: 4,
  }),
});

test('the lists have the places that sorting all of them gives', () => {
  fc.assert(
    fc.property(
      fc.array(place, { minLength: 60, maxLength: 160 }),
      fc.boolean(),
      (places, isBackwards) => {
        const lists = makePlaceLists(NATURAL);
        const cells = places.map((one, number) => ({
          ...one,
          number,
          group: number,
          location: { lat: 0, lng: 0 },
        }));
        for (const cell of isBackwards ? cells.toReversed() : cells)
          lists.add(cell, Uint8Array.from(cell.classes));
        const bySize = (a: (typeof cells)[number], b: (typeof cells)[number]) =>
          b.value - a.value || b.rows - a.rows || a.number - b.number;
        const wanted = LAYERS.flatMap((layer) =>
          cells
            .filter(({ classes }) => classes[layer] === HIGH || classes[layer] === VERY_HIGH)
            .sort(
              (a, b) => b.value - a.value || b.classes[layer]! - a.classes[layer]! || bySize(a, b),
            )
            .slice(0, PLACES_KEPT),
        );
        const rated = (classes: readonly number[], rating: number) =>
          NATURAL.filter(({ layer }) => classes[layer] === rating).map(({ slug }) => slug);
        assert.deepEqual(
          lists.places(),
          [...new Set(wanted)].sort(bySize).map(({ number, rows, value, classes }) => ({
            ...{
              cell: number,
              rows,
              value,
              veryHigh: rated(classes, VERY_HIGH),
              high: rated(classes, HIGH),
            },
          })),
        );
      },
    ),
  );
});
