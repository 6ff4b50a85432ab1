import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { billingPeriod, CLOCKS_APART_MS } from '../../src/contract/billing-period.ts';
import type { Scope } from '../../src/contract/credits.ts';
import { makeJob } from '../../src/job/settings.ts';
import { Payer } from '../../src/run/buy/payer.ts';
import { ApiKeys, hashSecret, type Key, readKeys } from '../../src/run/frame/api-keys.ts';
import { RunTimes } from '../../src/run/frame/run-times.ts';
import { type ChargedPrices, PRICE_HOLDS_MS } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { MovedClock } from '../moved-clock.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const key = (secret: string, ...scopes: Scope[]): Key => ({
  secret,
  fingerprint: hashSecret(secret),
  scopes: scopes.length > 0 ? new Set(scopes) : null,
});

test('of the keys in order one is used that is valid, for which the job states the scope, and that the service has not refused', async () => {
  const scopes: Scope[] = ['bundle', 'hail', 'park'];
  const learned = fc.record({
    what: fc.constantFrom('markInvalid', 'denyScope'),
    of: fc.nat({ max: 2 }),
    scope: fc.constantFrom(...scopes),
  });
  // Without names a key is for every scope.
  const named = fc.array(fc.subarray(scopes), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      named,
      fc.array(learned, { maxLength: 8 }),
      fc.subarray(scopes),
      async (each, news, earlier) => {
        const keys = each.map((names, index) => key(`secret ${index}`, ...names));
        // An earlier run has learned of the first.
        const refusedScopes = async (_: number, of: string) =>
          (of === keys[0]!.fingerprint ? earlier : []).map((scope) => ({
            scope,
            reason: null,
            at: 0,
          }));
        const apiKeys = await ApiKeys.open(keys, { refusedScopes } as unknown as Store, 1);
        const about = news.filter(({ of }) => of < keys.length);
        for (const { what, of, scope } of about) {
          if (what === 'markInvalid') apiKeys.markInvalid(keys[of]!);
          else apiKeys.denyScope(keys[of]!, scope);
        }
        const isRefused = (index: number, scope?: Scope) =>
          (index === 0 && scope !== undefined && earlier.includes(scope)) ||
          about.some(
            ({ what, of, scope: denied }) =>
              of === index && (what === 'markInvalid' || denied === scope),
          );
        for (const scope of scopes) {
          const isOpen = ({ scopes }: Key, index: number) =>
            (scopes === null || scopes.has(scope)) && !isRefused(index, scope);
          assert.equal(apiKeys.keyFor(scope), keys.find(isOpen) ?? null);
        }
        const isEachRefused = keys.every((_, index) => isRefused(index));
        assert.equal(apiKeys.exhausted, isEachRefused);
      },
    ),
  );
});

test('keys come from the environment and from the only line of files, without the space around them', async (t) => {
  const file = join(temporaryFolder(t), 'key');
  writeFileSync(file, '\n  pb_file \r\n\n');
  const named = { env: 'KEY', scopes: null };
  const [first, second] = await readKeys([named, { file, scopes: ['bundle', 'park'] }], {
    KEY: ' pb_env\n',
  });
  assert.deepEqual([first!.secret, first!.scopes], ['pb_env', null]);
  assert.deepEqual([second!.secret, second!.scopes], ['pb_file', new Set(['bundle', 'park'])]);
});

test('a key file of an editor of Windows, of Docker or of systemd holds its key in one reading, or is refused unsent', async (t) => {
  const folder = temporaryFolder(t);
  const keyOf = async (content: string | Buffer) => {
    const file = join(folder, 'key');
    writeFileSync(file, content);
    return await readKeys([{ file, scopes: null }], {}).then(
      ([key]) => key!.secret,
      (error: Error) => `refused: ${error.message.replace(file, 'FILE')}`,
    );
  };
  const utf16 = Buffer.from('\uFEFFpb_key\r\n', 'utf16le');
  const bigEndian = Buffer.from(utf16).swap16();
  const read = [
    '\uFEFFpb_key\n',
    utf16,
    bigEndian,
    '"pb_key"\n',
    "'pb_key'",
    'PERILBOOK_API_KEY=pb_key\n',
    'export API_KEY="pb_key"',
  ];
  for (const content of [
    ...read,
    '# of Ann\n\npb_key\n',
    'REGION=us\nAPI_KEY=pb_key\n'.replace('REGION', 'AWS_REGION'),
  ])
    assert.equal(await keyOf(content), 'pb_key', String(content));
  assert.equal(
    await keyOf('cGJfa2V5==\n'),
    'cGJfa2V5==',
    'an equals sign at the end is of the key',
  );
  for (const [content, seen] of [
    ['pb_one\npb_two\n', /^refused: The key file FILE has 2 lines$/],
    [
      'A_KEY=pb_one\nB_KEY=pb_two\n',
      /^refused: The key file FILE has 2 lines, of which 2 name a key$/,
    ],
    ['"pb_key\n', /^refused: The key file FILE has a quote on one side alone$/],
    ['API_KEY=$MY_KEY\n', /^refused: .* holds the name of a variable/],
    ['$MY_KEY\n', /^refused: .* holds the name of a variable/],
  ] as const)
    assert.match(await keyOf(content), seen);
});

test('a key that is missing where the job names it: the error names the place and what to do', async (t) => {
  const folder = temporaryFolder(t);
  const [empty, table] = [join(folder, 'empty'), join(folder, 'table')];
  writeFileSync(empty, '\n \n');
  writeFileSync(table, 'id,latitude\n1,40\n');
  const missing = (source: { env?: string; file?: string }, message: RegExp) =>
    assert.rejects(readKeys([{ ...source, scopes: null }], { BLANK: '  ' }), {
      code: 'KEY_MISSING',
      message,
    });
  await missing({ env: 'NONE' }, /environment variable NONE holds no API key/);
  await missing({ env: 'BLANK' }, /environment variable BLANK holds no API key/);
  await missing({ file: empty }, /empty is empty/);
  await missing({ file: table }, /table has 2 lines$/);
  const long = join(folder, 'long');
  writeFileSync(long, 'x'.repeat(16_384));
  assert.equal((await readKeys([{ file: long, scopes: null }], {})).length, 1);
  writeFileSync(long, 'x'.repeat(16_385));
  await missing(
    { file: long },
    /long cannot be read: it has more than 16384 bytes, and no key has$/,
  );
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'cat "$0" "$0" > "$1"', long, pipe]);
  t.after(() => writer.kill());
  await missing(
    { file: pipe },
    /pipe cannot be read: it has more than 16384 bytes, and no key has$/,
  );
  await missing({ file: join(folder, 'gone') }, /gone cannot be read/);
  await missing({ file: folder }, /cannot be read/);
  const typed = 'pbk7Q2xR9vLm4TzWc8YdN3';
  await missing({ env: typed }, /looks like a key itself, and is not shown$/);
  await missing(
    { file: join(folder, typed) },
    /looks like a key itself, and is not shown; there is no such file$/,
  );
});

test('a pipe gives its key once, for each time that it is read', async (t) => {
  const pipe = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'echo pb_piped > "$0"', pipe]);
  t.after(() => writer.kill());
  for (let time = 0; time < 2; time++) {
    const [read] = await readKeys([{ file: pipe, scopes: null }], {});
    assert.equal(read!.secret, 'pb_piped');
  }
});

test('a fingerprint is the same for the same key, differs between keys, and holds nothing of the key', () => {
  const secret = fc.string({ minLength: 8 });
  fc.assert(
    fc.property(secret, secret, (a, b) => {
      assert.match(hashSecret(a), /^[0-9a-f]{12}$/);
      assert.equal(hashSecret(a) === hashSecret(b), a === b);
      assert.ok(!hashSecret(a).includes(a));
    }),
  );
});

const SINGLE = { kind: 'single', topic: 'hail' } as const;
const STANDARD = { kind: 'standard' } as const;
const ENTERPRISE = { kind: 'enterprise' } as const;

const FIRST = key('first', 'hail', 'bundle');
const SECOND = key('second');

async function payerOf(
  creditsPerMinute = 300,
  clock = new MovedClock('2026-03-15T12:00:00Z'),
  charged: ChargedPrices = new Map(),
): Promise<Payer> {
  const nothingRefused = { refusedScopes: async () => [] } as unknown as Store;
  const subscription = { credits_per_month: 10_000, credits_per_minute: creditsPerMinute };
  const settings = { input: 'in.csv', subscription, anniversary_day: 5 };
  const job = makeJob([settings], { dataFolder: '/', workingFolder: '/' });
  const keys = await ApiKeys.open([FIRST, SECOND], nothingRefused, 1);
  return new Payer(
    job,
    keys,
    new RunTimes(clock, clock.now(), 5, () => {}),
    { standard: null, enterprise: null },
    charged,
  );
}

const payable = (payer: Payer) =>
  [SINGLE, STANDARD, ENTERPRISE].filter((call) => payer.canPay(call));

test('a call that costs more than the whole minute is never paid', async () => {
  assert.deepEqual(payable(await payerOf(35)), [SINGLE, STANDARD, ENTERPRISE]);
  assert.deepEqual(payable(await payerOf(34)), [SINGLE, STANDARD]);
});

test('what the budget refused stays too dear; cheaper calls go on until none is left', async () => {
  const payer = await payerOf();
  assert.equal(payer.shortage, null);
  assert.equal(payer.creditsRefused(35, 'budget', 0), false);
  assert.deepEqual([payable(payer), payer.shortage], [[SINGLE, STANDARD], 'budget']);
  assert.equal(payer.creditsRefused(15, 'budget', 0), false);
  assert.equal(payer.creditsRefused(35, 'budget', 0), false);
  assert.deepEqual(payable(payer), [SINGLE]);
  assert.equal(payer.creditsRefused(1, 'budget', 0), true);
  assert.deepEqual(payable(payer), []);
});

test('what the quota refused stays too dear until the anniversary is over by any clock, and is what a stop names', async () => {
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const payer = await payerOf(300, clock);
  const { end } = billingPeriod(5, clock.now());
  assert.equal(payer.quotaUsedUp().resumeAfter, end);
  payer.creditsRefused(35, 'quota', clock.now());
  payer.creditsRefused(15, 'budget', clock.now());
  assert.deepEqual([payable(payer), payer.shortage], [[SINGLE], 'quota']);
  assert.equal(payer.creditsRefused(1, 'quota', clock.now()), true);
  // A dearer call that was under way is refused later: it makes nothing payable.
  assert.equal(payer.creditsRefused(15, 'quota', clock.now()), true);
  clock.moveTo(new Date(end + CLOCKS_APART_MS - 1).toISOString());
  assert.deepEqual(payable(payer), []);
  clock.move(1);
  assert.deepEqual(payable(payer), [SINGLE]);
  assert.equal(payer.quotaUsedUp().resumeAfter, end);
});

test('a refused key or scope makes room for the next key, and changes the prices', async () => {
  const payer = await payerOf();
  assert.equal(payer.keyFor(SINGLE), FIRST);
  payer.keyRefused(FIRST, SINGLE, 'scope', 'no scope');
  assert.equal(payer.dearer, null, 'the second key buys the same');
  assert.equal(payer.unproven(SECOND, SINGLE).length, 2, 'from now on one call tries a key');
  assert.deepEqual([payer.keyFor(SINGLE), payer.keyFor(STANDARD)], [SECOND, FIRST]);
  payer.keyRefused(FIRST, STANDARD, 'key', 'no key');
  assert.deepEqual(
    [payer.keyFor(STANDARD), payer.priceList.bundles, payer.hasNoKey],
    [SECOND, true, false],
  );
  payer.keyRefused(SECOND, STANDARD, 'scope', 'no bundle');
  assert.equal(payer.dearer, 'no bundle');
  assert.equal(payer.isDearerForNow, false, 'the scope is noted');
  payer.acceptPrices();
  assert.deepEqual(
    [payer.keyFor(STANDARD), payer.priceList.bundles, payer.hasNoKey],
    [null, false, false],
  );
  payer.keyRefused(SECOND, SINGLE, 'key', 'no key');
  assert.equal(payer.hasNoKey, true);
});

test('a refusal that names no scope makes dearer for now: the next run asks again', async () => {
  const payer = await payerOf();
  for (const key of [FIRST, SECOND]) payer.keyRefused(key, STANDARD, 'call', 'no reason');
  assert.deepEqual([payer.dearer, payer.isDearerForNow], ['no reason', true]);
});

test('what a bundle was seen to return changes the prices once', async () => {
  const payer = await payerOf();
  payer.learnContents('standard', ['hail', 'drought']);
  const { priceList } = payer;
  assert.deepEqual(priceList.standard, new Set(['hail', 'drought']));
  payer.learnContents('standard', ['drought', 'hail']);
  assert.equal(payer.priceList, priceList);
  for (const topics of [['hail', 'park'], ['hail'], ['hail', 'radon']] as const) {
    payer.learnContents('standard', topics);
    assert.deepEqual(payer.priceList.standard, new Set(topics));
  }
});

const priced = (credits: number, holdsMs = PRICE_HOLDS_MS) => ({ credits, at: 0, holdsMs });

test('after a refusal one call of a key and a scope is made alone, until it is answered', async () => {
  const charged = new Map([
    ['hail', priced(1)],
    ['standard', priced(15)],
  ] as const);
  const payer = await payerOf(300, undefined, charged);
  assert.deepEqual(payer.unproven(FIRST, SINGLE), []);
  payer.keyRefused(FIRST, ENTERPRISE, 'scope', 'no bundle');
  const [ofHail, ofBundle] = [payer.unproven(SECOND, SINGLE), payer.unproven(SECOND, STANDARD)];
  assert.deepEqual([ofHail.length, ofBundle.length, ofHail[0] === ofBundle[0]], [1, 1, false]);
  payer.accepted(SECOND, SINGLE);
  assert.deepEqual(
    [
      payer.unproven(SECOND, SINGLE),
      payer.unproven(SECOND, STANDARD),
      payer.unproven(FIRST, SINGLE),
    ],
    [[], ofBundle, payer.unproven(FIRST, SINGLE)],
  );
});

test('the first call of a kind whose price is not known goes out alone, whatever its key and topic', async () => {
  const payer = await payerOf();
  const first = payer.unproven(FIRST, SINGLE);
  assert.equal(first.length, 1);
  assert.deepEqual(payer.unproven(SECOND, { kind: 'single', topic: 'park' }), first);
  assert.notDeepEqual(payer.unproven(FIRST, STANDARD), first);
  payer.answered(SINGLE);
  assert.deepEqual(payer.unproven(FIRST, SINGLE), [], 'free of charge');
  payer.learnPrice(STANDARD, 15);
  assert.deepEqual(payer.unproven(FIRST, STANDARD), []);
});

test('a price that holds no longer is shown anew by a call that claims as much; where credits lack for it, it is expected on', async () => {
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const charged = new Map([
    ['standard', priced(45, 0)],
    ['hail', priced(3, 1)],
  ] as const);
  const payer = await payerOf(300, clock, charged);
  assert.deepEqual([payer.priceOf(STANDARD), payer.mostFor(STANDARD)], [15, 45]);
  assert.deepEqual([payer.chargedFor(STANDARD), payer.chargedFor(SINGLE)], [null, 3]);
  clock.move(1);
  assert.deepEqual([payer.chargedFor(SINGLE), payer.priceOf(SINGLE)], [null, 3], 'in mid-run');
  assert.equal(payer.expectDearer(SINGLE), false);
  assert.equal(payer.expectDearer(STANDARD), true);
  assert.equal(payer.priceOf(STANDARD), 45);
  assert.match(payer.dearer!, /charged 45 credits for a standard bundle on 1970-01-01/);
});

test('what a call was charged is its price from then on; only a higher one is told as dearer', async () => {
  const payer = await payerOf(300, undefined, new Map([['standard', priced(10)]] as const));
  assert.deepEqual(
    [SINGLE, STANDARD, ENTERPRISE].map((call) => payer.priceOf(call)),
    [1, 10, 35],
  );
  payer.learnPrice(STANDARD, 9);
  assert.deepEqual(
    [payer.priceOf(STANDARD), payer.chargedFor(STANDARD), payer.dearer],
    [9, 9, null],
  );
  payer.learnPrice(SINGLE, 5);
  assert.equal(payer.priceOf({ kind: 'single', topic: 'park' }), 1, 'the price of hail alone');
  assert.equal(
    payer.dearer,
    'The service charges 5 credits for a single call of hail instead of 1',
  );
  payer.acceptPrices();
  payer.learnContents('standard', ['hail']);
  assert.equal(payer.dearer, 'The standard bundle returns other topics than before');
});
