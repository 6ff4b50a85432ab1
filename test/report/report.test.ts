import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { goldenFile, handMadeBook, withoutBulk } from './hand-made-book.ts';

/*
 * Each folder of golden/ is a book with a job, what a service said of it, and the page that must come of that. To write the
 * pages anew, for review in the diff: UPDATE_REPORT=1 node --test test/report/report.test.ts
 */
const UPDATE = process.env.UPDATE_REPORT === '1';

for (const name of ['spread', 'town']) {
  test(`the report of ${name} is the one that was reviewed`, async (t) => {
    const { page } = await handMadeBook(t, name);
    const made = withoutBulk(await page());
    if (UPDATE || !existsSync(goldenFile(name))) writeFileSync(goldenFile(name), made);
    assert.equal(made, readFileSync(goldenFile(name), 'utf8'));
  });
}

test('nothing out of a file is markup on the page, and what turns the direction of writing is named', async (t) => {
  const { page } = await handMadeBook(t, 'spread');
  const made = await page();
  const times = (text: string) => made.split(text).length - 1;
  assert.deepEqual([times('<script'), times('</script')], [2, 2], 'the data of the map and the one script');
  for (const foreign of ['<img', '<b>Curious', 'used up <b>', 'service <b>', '</td></table>&']) {
    assert.equal(times(foreign), 0, foreign);
  }
  for (const shown of [
    '&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;',
    '&quot;Quoted&quot; &amp; &#39;single&#39; &lt;/td&gt;&lt;/table&gt;',
    'a⟨U+202E⟩gpj.exe ⟨U+2066⟩x⟨U+2069⟩ ⟨U+0007⟩bell ⟨U+200F⟩mark',
    '<bdi>5 · מגדל עברי (Hebrew)</bdi>',
  ]) {
    assert.ok(times(shown) >= 1, shown);
  }
  assert.equal(made.search(/[\p{Bidi_C}]|(?!\n)\p{Cc}/u), -1, 'no unseen character is left');
});

test('keys and tokens are not on the page, and nothing on it points elsewhere', async (t) => {
  const { page } = await handMadeBook(t, 'town');
  const made = await page();
  assert.equal(made.search(/SECRET/), -1);
  assert.ok(made.includes('answers from <bdi>hazards.example.com/v1</bdi>'));
  assert.equal(made.search(/https?:\/\/|url\((?!#)|src=|@import/), -1);
  assert.ok(/default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'/.test(made));
});

test('the list of locations names its ratings apart for the CSV', async (t) => {
  const page = await (await handMadeBook(t, 'spread')).page();
  assert.ok(page.includes('<td data-csv="Very High: Earthquake, Wildfire"><p>'));
});

test('the share answered is by value where the shares are of value', async (t) => {
  const page = await (await handMadeBook(t, 'spread')).page();
  // Sums of book.csv by hand: 11,850,000 in the US; Denver (600,000) was not bought, wildfire fails for Phoenix (400,000).
  const all = 11_850_000;
  const share = (value: number) => `${((value / all) * 100).toFixed(1)} %`;
  assert.ok(page.includes(`<dt>Value answered</dt><dd>${share(all - 600_000)}<small>1 location not answered</small>`));
  const lineOf = (topic: string) => new RegExp(`<tr data-layer[^>]*><th scope="row">${topic}<.*`).exec(page)![0];
  assert.ok(lineOf('Earthquake').endsWith(`<td class="n">${share(all - 600_000)}</td></tr>`), lineOf('Earthquake'));
  assert.ok(lineOf('Wildfire').endsWith(`<td class="n">${share(all - 1_000_000)}</td></tr>`), lineOf('Wildfire'));
});
