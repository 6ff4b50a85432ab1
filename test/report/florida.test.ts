import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS, type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { amount, counted, grouped } from '../../src/format-numbers.ts';
import { percent } from '../../src/report/page/numbers.ts';
import { openAccounts } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { perilbook } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { usage } from '../service/account-usage.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { openDuckdb, textsOf } from '../warehouse/duckdb.ts';
import { FLORIDA_ROWS, floridaPortfolio } from './florida-portfolio.ts';

const ROWS = times({ short: 4_000, faults: FLORIDA_ROWS });

const BUDGET = 300;

const columnOf = (slug: TopicSlug) => `${slug.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_rating`;

interface PerilSums {
  readonly title: string;
  readonly high: number;
  readonly veryHigh: number;
  readonly answered: number;
}

test('every figure of the first screen is a sum over the output, where the budget paid for a part', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  writeFileSync(join(folder, 'book.csv'), floridaPortfolio(ROWS));
  const clock = new FastClock('2026-03-15T12:00:10Z', 200);
  const words = ['-t', 'natural', '--store', 'store.db', '-o', 'out.csv', '--order-by', 'tiv_2012'];
  const paid = ['--budget', String(BUDGET), '--currency', 'USD', '--report', 'page.html', '--quiet'];
  const ran = await perilbook(['run', 'book.csv', ...words, ...paid], { folder, clock });
  assert.equal(ran.code, 4, ran.stderr);
  const accounts = openAccounts(join(folder, 'sample-service-accounts.db'));
  t.after(() => accounts.close());
  const { totalCredits } = usage(accounts, 'embedded: 10000 a month, 300 a minute, resets on day 1', clock.now());
  const page = readFileSync(join(folder, 'page.html'), 'utf8');

  const duckdb = await openDuckdb();
  t.after(() => duckdb.close());
  await duckdb.execute(
    `CREATE TABLE rows AS SELECT *, tiv_2012::DOUBLE AS tiv FROM ${textsOf(join(folder, 'out.csv'))}`,
  );
  await duckdb.execute(
    "CREATE VIEW located AS SELECT * FROM rows WHERE hazard_status NOT IN ('invalid', 'outside_us')",
  );
  const row = async (sql: string): Promise<string[]> => (await duckdb.query(sql))[0]!.map((field) => field ?? '0');
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

  const shown = [...page.matchAll(/<div><dt>(.*?)<\/dt><dd>(.*?)<small>(.*?)<\/small><\/dd><\/div>/g)];
  const planned = /<dt>Planned<\/dt><dd>(.*?)<\/dd>/.exec(page)![1];
  assert.deepEqual(
    shown.map((parts) => parts.slice(1)),
    [
      ['Locations', grouped(rows!), `of ${counted(all!, 'row')}, at ${counted(places!, 'place')}`],
      ['Value', amount(value!, 'USD'), 'tiv_2012'],
      ['Very High for a hazard', percent(veryHigh!, answered!), 'of the value answered'],
      ['Value answered', percent(answered!, value!), `${counted(notAnswered!, 'location')} not answered`],
      ['Complete', percent(ok!, rows!), `${grouped(rows! - ok!)} incomplete`],
      ['Credits spent', grouped(totalCredits), `of ${planned} planned`],
    ],
  );

  const sums = await Promise.all(
    NATURAL_SLUGS.map(async (slug): Promise<PerilSums> => {
      const column = columnOf(slug);
      const [high, highest, said] = await numbers(
        `SELECT sum(tiv) FILTER (${column} = 'Relatively High'), sum(tiv) FILTER (${column} = 'Very High'),
           sum(tiv) FILTER (${column} <> '') FROM located`,
      );
      return { title: topicOf(slug).title, high: high!, veryHigh: highest!, answered: said! };
    }),
  );
  sums.sort((a, b) => b.high + b.veryHigh - a.high - a.veryHigh || b.veryHigh - a.veryHigh);
  const bars = /<div class="perils">[\s\S]*?<\/table>/.exec(page)![0];
  const lines = [
    ...bars.matchAll(
      /<th scope="row">(.*?)<\/th>.*?<b>(.*?)<\/b><\/td><td class="n">(.*?)<\/td><td class="n">(.*?)<\/td>/g,
    ),
  ];
  assert.deepEqual(
    lines.map((parts) => parts.slice(1)),
    sums.map((sum) => [
      sum.title,
      amount(sum.high + sum.veryHigh, 'USD'),
      percent(sum.high + sum.veryHigh, sum.answered),
      percent(sum.answered, value!),
    ]),
  );
  const widths = [...bars.matchAll(/<th scope="row">.*?<svg.*?<\/svg>/g)].map(([bar]) =>
    Object.fromEntries(
      [...bar.matchAll(/class="t-(\w+)" x=".*?" width="(.*?)%"/g)].map(([, tone, width]) => [tone, Number(width)]),
    ),
  );
  for (const [index, sum] of sums.entries()) {
    const share = (part: number) => Number(((part / value!) * 100).toFixed(2));
    const bar = { 5: share(sum.veryHigh), 4: share(sum.high), rest: share(sum.answered - sum.veryHigh - sum.high) };
    for (const [tone, width] of Object.entries(bar))
      assert.equal(widths[index]![tone] ?? 0, width, `${sum.title}, ${tone}`);
  }
  assert.ok(bars.length > 0 && page.includes(`A whole bar is ${amount(value!, 'USD')}.`));
});
