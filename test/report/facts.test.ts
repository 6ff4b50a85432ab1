import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { amount } from '../../src/base/format-numbers.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { drawBetween, drawWhole, makeRandom, pick } from '../../src/sample/random.ts';
import { openAccounts } from '../../src/service/accounts/open-accounts.ts';
import { perilbook } from '../cli/command-line.ts';
import { openDuckdb, textsOf } from '../duckdb.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { usage } from '../service/file-accounts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';

const ROWS = times({ short: 1_000, long: 4_000, soak: 36_634 });

/** Counties of Florida with a point inside them; a third of the rows are in the first. */
const COUNTIES = [
  ...Array.from({ length: 5 }, () => ['MIAMI-DADE', 25.75, -80.4] as const),
  ...([
    ['BROWARD', 26.15, -80.25],
    ['PALM BEACH', 26.65, -80.25],
    ['ORANGE', 28.5, -81.35],
    ['HILLSBOROUGH', 27.95, -82.35],
    ['DUVAL', 30.33, -81.68],
    ['CLAY', 30, -81.78],
    ['LEE', 26.58, -81.8],
    ['BREVARD', 28.15, -80.72],
    ['POLK', 28, -81.75],
    ['LEON', 30.45, -84.28],
    ['BAY', 30.25, -85.62],
  ] as const),
];

/** A made-up portfolio as CSV: some rows are at the place of the one before, some at none. */
function portfolio(): string {
  const random = makeRandom(1, 'florida-portfolio');
  let place = '';
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const [county, lat, lng] = pick(random, COUNTIES);
    // The last of six decimals is not 0: rounding to four is then the same in every program.
    const near = (degrees: number) =>
      `${(degrees + drawBetween(random, -0.06, 0.06)).toFixed(5)}${drawWhole(random, 1, 9)}`;
    if (row % 13 !== 12) place = `${county},${near(lat)},${near(lng)}`;
    return `${row},${Math.round(Math.exp(drawBetween(random, 10, 15)))},${row % 211 === 100 ? ',,' : place}\n`;
  });
  return `policyID,tiv_2012,county,point_latitude,point_longitude\n${rows.join('')}`;
}

const BUDGET = 300;

const columnOf = (slug: TopicSlug) =>
  `${slug.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_rating`;

test('the facts of a portfolio are sums over its output, where the budget paid for a part', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  writeFileSync(join(folder, 'book.csv'), portfolio());
  // No faster: at 50 times, the 150 s that the client waits for an answer are 3 s, and on a busy machine two paid bundles came too late.
  const clock = new FastClock('2026-03-15T12:00:10Z', 1);
  const words = [
    ...['-t', 'natural', '--service', 'sample', '--subscription', 'starter', '--store', 'store.db'],
    ...['-o', 'out.csv', '--order-by', 'tiv_2012'],
  ];
  const paid = ['--budget', String(BUDGET), '--quiet'];
  const ran = await perilbook(['run', 'book.csv', ...words, ...paid], { folder, clock });
  assert.equal(ran.code, 4, ran.stderr);
  const accounts = openAccounts(join(folder, 'sample-data-accounts.db'));
  t.after(() => accounts.close());
  const { totalCredits } = usage(
    accounts,
    'embedded: 10000 a month, 1000000000 a minute, resets on day 1',
    clock.now(),
  );
  const { facts, page } = await reported(folder, clock, words);

  const duckdb = await openDuckdb();
  t.after(() => duckdb.close());
  await duckdb.execute(
    `CREATE TABLE rows AS SELECT *, tiv_2012::DOUBLE AS tiv FROM ${textsOf(join(folder, 'out.csv'))}`,
  );
  await duckdb.execute(
    "CREATE VIEW located AS SELECT * FROM rows WHERE hazard_status NOT IN ('invalid', 'outside_us')",
  );
  const row = async (sql: string): Promise<string[]> =>
    (await duckdb.query(sql))[0]!.map((field) => field ?? '0');
  const numbers = async (sql: string): Promise<number[]> => (await row(sql)).map(Number);
  const columns = NATURAL_SLUGS.map(columnOf);
  const isVeryHigh = columns.map((column) => `${column} = 'Very High'`).join(' OR ');
  const isAnswered = `coalesce(${columns.map((column) => `nullif(${column}, '')`).join()}) IS NOT NULL`;
  const [all, rows, places, value, ok] = await numbers(
    `SELECT (SELECT count(*) FROM rows), count(*),
       count(DISTINCT (round(point_latitude::DOUBLE, 4), round(point_longitude::DOUBLE, 4))),
       sum(tiv), count(*) FILTER (hazard_status = 'ok')
     FROM located`,
  );
  const [veryHigh, answered, notAnswered] = await numbers(
    `SELECT sum(tiv) FILTER (${isVeryHigh}), sum(tiv) FILTER (${isAnswered}), count(*) FILTER (NOT (${isAnswered}))
     FROM located`,
  );
  assert.equal(all, ROWS);
  assert.ok(rows! < all! && notAnswered! > 0.8 * rows! && veryHigh! > 0);

  assert.deepEqual(
    [facts.rows, facts.all, facts.places, facts.missing.status[0], facts.credits.charged],
    [all, { locations: rows, value }, places, { status: 'ok', rows: ok }, totalCredits],
  );
  const [oldest, newest] = await row(
    "SELECT min(hazard_as_of), max(hazard_as_of) FROM rows WHERE hazard_as_of <> ''",
  );
  assert.deepEqual([facts.oldest, facts.newest], [oldest, newest]);
  const { highest } = facts;
  assert.deepEqual(
    [highest.classes[4].value, highest.answered.value, highest.not_answered.locations],
    [veryHigh, answered, notAnswered],
  );
  for (const peril of facts.topics) {
    const column = columnOf(peril.topic);
    const [high, most, of, count] = await numbers(
      `SELECT sum(tiv) FILTER (${column} = 'Relatively High'), sum(tiv) FILTER (${column} = 'Very High'),
         sum(tiv) FILTER (${column} <> ''), count(*) FILTER (${column} <> '') FROM located`,
    );
    assert.deepEqual(
      [peril.classes[3].value, peril.classes[4].value, peril.severe.value, peril.answered],
      [high, most, high! + most!, { locations: count, value: of }],
      peril.topic,
    );
  }
  const counties = await duckdb.query(
    `SELECT county, sum(tiv), count(*) FROM located GROUP BY county ORDER BY sum(tiv) DESC`,
  );
  // Some places of the made-up file lie beyond the border of the county that their rows name.
  const areas = [
    ...facts.counties.largest,
    ...(facts.counties.others ? [facts.counties.others] : []),
  ];
  assert.ok(counties.length > 10 && facts.counties.largest[0].name === 'Miami-Dade, Florida');
  for (const part of ['locations', 'value'] as const) {
    const sum = areas.reduce((all, area) => all + area[part], 0);
    assert.equal(sum, facts.all[part], `counties by ${part}`);
  }
  const [top] = [...facts.topics].sort((a, b) => b.classes[4].value - a.classes[4].value);
  const share = Math.round((100 * top.classes[4].value) / top.answered.value);
  const story = `${share} % of the ${amount(top.answered.value, 'USD')} answered is rated Very High for ${top.title.toLowerCase()};`;
  assert.ok(facts.story.startsWith(story), `${facts.story}, not ${story}`);
  assert.ok(
    facts.story.endsWith(`; ${amount(top.not_answered.value, 'USD')} is not answered.`),
    facts.story,
  );
  assert.ok(page.includes(`<p class="story">${facts.story}</p>`));
  assert.ok(page.includes(`Bars of all value: ${amount(value!, 'USD')}</label>`));
});

/** The facts as `--json` prints them, and the page. */
async function reported(folder: string, clock: FastClock, words: readonly string[]) {
  const more = ['--currency', 'USD', '--json', '--report', 'page.html'];
  const { code, stdout, stderr } = await perilbook(['report', 'book.csv', ...words, ...more], {
    folder,
    clock,
  });
  assert.equal(code, 0, stderr);
  return { facts: JSON.parse(stdout), page: readFileSync(join(folder, 'page.html'), 'utf8') };
}
