import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient, type JobFile, lookup, openStore, run as runJob } from '../../src/index.ts';
import { fakeService, lacking } from '../fake-service.ts';
import { openHarness, places } from '../run/harness.ts';
import { releaseLater } from '../service/small-data.ts';
import { LONG, SHORT } from '../tier.ts';
import { perilbook } from './command-line.ts';

async function openScene(t: TestContext) {
  const harness = await openHarness(t, {
    clock: { start: Date.now(), factor: 1, origin: Date.now() },
  });
  const service = await fakeService(t, harness.url, lacking);
  const { folder } = harness;
  const key = harness.key().secret;
  writeFileSync(
    join(folder, 'book.csv'),
    `lat,lng\n${places(4)
      .map(([lat, lng]) => `${lat},${lng}\n`)
      .join('')}`,
  );
  const perilbookIn = (words: string, typed?: string) =>
    perilbook(words.split(' '), {
      folder,
      ...(typed !== undefined && { typed, columns: 200 }),
      env: {
        PERILBOOK_BASE_URL: service.url,
        PERILBOOK_API_KEY: key,
        XDG_DATA_HOME: folder,
      },
    });
  return { ...harness, service, secret: key, perilbookIn };
}

/** The numbers of a text, such as `16 credits: 15, and up to 11`. */
const numbersIn = (text: string) =>
  [...text.matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(',', '')));

for (const { command, places: count } of [
  { command: 'run book.csv --subscription professional', places: 4 },
  { command: 'lookup 40.05 -99.95', places: 1 },
] as const) {
  for (const topics of ['natural', 'natural,superfund', 'all', 'hail,wildfire']) {
    const tier = topics === 'natural' ? SHORT : LONG;
    test(`what is asked is the most that is charged: ${command} -t ${topics}`, tier, async (t) => {
      const { perilbookIn, charged } = await openScene(t);
      const words = `${command} -t ${topics}`;
      const refused = await perilbookIn(words);
      assert.equal(refused.code, 2, refused.stderr);
      const [, refusal, hint] =
        /would spend at most (.*) without approval\n *hint: Add --yes or --budget (\d+)/.exec(
          refused.stderr,
        )!;
      const asked = await perilbookIn(words, 'n\r');
      const [, question] = /Spend at most (.*) \[y\/N\]/.exec(asked.stderr)!;
      assert.equal(charged(), 0);
      const [most, price, retries] = numbersIn(question!);
      assert.deepEqual(numbersIn(refusal!), numbersIn(question!));
      assert.equal(Number(hint), most);
      assert.equal(most, (price ?? most!) + (retries ?? 0));
      const { stderr, stdout, code } = await perilbookIn(`${words} --json`, 'y\r');
      assert.equal(code, 0, stderr);
      const { credits_limit, credits_spent } = JSON.parse(stdout);
      assert.deepEqual([credits_limit, credits_spent], [most, charged()]);
      assert.ok(charged() <= most!, `${charged()} of ${most}`);
      // Something was asked for again, so that the price alone would have been passed.
      if (retries !== undefined) assert.ok(charged() > price!, `${charged()} of ${price}`);
      else assert.equal(charged(), 2 * count);
    });
  }
}

test('with --yes and with a budget nothing passes the number either', SHORT, async (t) => {
  const { perilbookIn, charged } = await openScene(t);
  const tight = await perilbookIn('lookup 40.05 -99.95 -t natural --budget 16');
  assert.equal(charged() <= 16, true, tight.stderr);
  const before = charged();
  const { stderr } = await perilbookIn('lookup 40.051 -99.95 -t natural --yes');
  const [, spent, most] = /^Spent: (\d+) credits of at most (\d+)\.$/m.exec(stderr)!;
  assert.equal(Number(spent), charged() - before);
  assert.ok(charged() - before <= Number(most), stderr);
});

test(
  'a program is refused with the same number, and no look-up or run passes its budget',
  SHORT,
  async (t) => {
    const { folder, charged, service, secret } = await openScene(t);
    const job: JobFile = {
      input: 'book.csv',
      output: 'out.csv',
      topics: 'natural',
      service: { base_url: service.url, api_keys: [{ env: 'KEY' }] },
    };
    const options = { workingFolder: folder, dataFolder: folder, env: { KEY: secret } };
    await assert.rejects(runJob(job, options), ({ code, message, hint }) => {
      assert.equal(code, 'NEEDS_APPROVAL');
      const [most, price, retries] = numbersIn(message);
      assert.deepEqual([most, numbersIn(hint)], [price! + retries!, [most]]);
      return true;
    });
    assert.equal(charged(), 0);
    const { summary } = await runJob({ ...job, budget: 70 }, options);
    assert.ok(charged() <= 70 && charged() === summary.credits_spent, `${charged()}`);
    const store = await openStore(join(folder, 'others.db'));
    releaseLater(t, () => store[Symbol.asyncDispose]());
    const source = createClient({ base_url: service.url, api_key: secret });
    for (const budget of [0, 3, 15, 16, 20, 27, 40]) {
      const before = charged();
      await lookup({ lat: 40.06, lng: -99.94 + budget / 1000 }, 'natural', {
        source,
        store,
        budget,
      });
      assert.ok(charged() - before <= budget, `${charged() - before} of ${budget}`);
    }
  },
);
