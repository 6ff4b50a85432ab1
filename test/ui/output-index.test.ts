import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATINGS } from '../../src/contract/topic-values.ts';
import { OutputIndex } from '../../src/ui/results/output-index.ts';
import type { RowFilter } from '../../src/ui/results/output-page.ts';
import type { OutputRow, OutputTable } from '../../src/ui/results/output-table.ts';

/** All ratings, none, and one that is not of the contract. */
const FIELDS = [...RATINGS, '', 'Other'];
const ROWS = 130;

const table: OutputTable = {
  perils: [
    { slug: 'hail', title: 'Hail' },
    { slug: 'wildfire', title: 'Wildfire' },
  ],
  ...{ hasId: true, hasValue: true, currency: null, identifying: [] },
  read: async function* () {},
  readOwn: async function* () {},
};

/** Each pair of ratings, with values of which many are equal. */
const ROWS_OF_TABLE = Array.from({ length: ROWS }, (_, index): OutputRow => {
  const ratings = [FIELDS[index % FIELDS.length]!, FIELDS[Math.floor(index / FIELDS.length) % FIELDS.length]!];
  return {
    ...{ number: index + 1, id: `P${index}`, place: '', value: (index * 7) % 5, currency: '', status: 'ok', note: '' },
    ...{ ratings, identifying: [] },
  };
});

/** 5 for Very High to 1 for Very Low; 0 for what has no order. */
const rank = (rating: string) => RATINGS.slice(0, 5).indexOf(rating as (typeof RATINGS)[number]) + 1;

/** The rating that the table shows: that of the peril, or the highest of all. */
function shownRating({ ratings }: OutputRow, peril: RowFilter['peril']): string {
  if (peril !== undefined) return ratings[table.perils.findIndex(({ slug }) => slug === peril)]!;
  const highest = Math.max(...ratings.map(rank));
  return highest === 0 ? '' : ratings.find((rating) => rank(rating) === highest)!;
}

test('by rating: the highest or the lowest first, what has no order last, ties by value and then as in the file', () => {
  using index = new OutputIndex(table);
  for (const row of ROWS_OF_TABLE) index.add(row, row.number + 1);
  index.finish();
  for (const peril of [undefined, 'hail', 'wildfire']) {
    for (const direction of ['asc', 'desc'] as const) {
      const sign = direction === 'asc' ? 1 : -1;
      const all = { ...(peril === undefined ? {} : { peril }), sort: { by: 'rating', direction } } as const;
      const pages = [0, 50, 100].map((from) => index.page({ ...all, from }));
      const shown = pages.flatMap(({ rows }) => rows);
      const wanted = ROWS_OF_TABLE.map((row) => ({ ...row, rating: shownRating(row, peril) })).filter(
        ({ rating }) => peril === undefined || rating !== '',
      );
      assert.deepEqual(new Set(pages.map(({ total }) => total)), new Set([wanted.length]));
      const ordered = wanted.filter(({ rating }) => rank(rating) > 0);
      ordered.sort((a, b) => sign * (rank(a.rating) - rank(b.rating)) || b.value! - a.value! || a.number - b.number);
      const summary = (row: { id: string; rating: string; value: number | null }) =>
        `${row.id} ${row.rating} ${row.value}`;
      assert.deepEqual(shown.slice(0, ordered.length).map(summary), ordered.map(summary), `${peril} ${direction}`);
      assert.ok(shown.slice(ordered.length).every(({ rating }) => rank(rating) === 0));
      assert.equal(shown.length, wanted.length);
    }
  }
  const { total, rows } = index.page({ peril: 'hail', rating: 'Other', from: 0 });
  assert.deepEqual([total, rows[0]!.rating, rows[0]!.line], [13, 'Other', 11]);
});
