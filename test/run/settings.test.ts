import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUBSCRIPTIONS } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, TOPICS, type TopicSlug } from '../../src/contract/topics.ts';
import { isUnlimited } from '../../src/job/account-settings.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { relativeTo } from '../../src/job/merge-settings.ts';
import { parseJobFile } from '../../src/job/read-job-file.ts';
import { durationMs } from '../../src/job/setting-texts.ts';
import { type Job, makeJob } from '../../src/job/settings.ts';
import { parseTopics } from '../../src/job/topic-choice.ts';
import { fc } from '../properties.ts';

const SURROUNDINGS = { dataFolder: '/data/perilbook', workingFolder: '/here' };
const DAY = 86_400_000;
const MOST = Number.MAX_SAFE_INTEGER;

const job = (...said: JobFile[]) => makeJob([...said, { input: 'in.csv' }], SURROUNDINGS);

test('what nobody says is the default', () => {
  const made = makeJob([{ input: 'books/in.csv' }], SURROUNDINGS);
  assert.partialDeepStrictEqual(made, {
    name: 'in',
    input: '/here/books/in.csv',
    output: '/here/books/in.hazards.csv',
    topics: [...NATURAL_SLUGS],
    precision: 4,
    prefix: '',
    service: { kind: 'local' },
    account: {
      name: 'embedded',
      subscription: SUBSCRIPTIONS.starter,
      anniversaryDay: 1,
      reserve: 0,
    },
    budget: null,
    optimize: 'credits',
    store: '/data/perilbook/store.db',
    concurrency: 8,
  });
  assert.deepEqual(made.location, {});
  const named = (settings: JobFile, jobFile?: string) =>
    makeJob([settings, { input: 'in.csv' }], { ...SURROUNDINGS, jobFile }).name;
  assert.deepEqual([named({}, 'jobs/east.yaml'), named({ name: 'x' }, 'east.yaml')], ['east', 'x']);
  assert.throws(() => makeJob([{}], SURROUNDINGS), {
    code: 'USAGE',
    message: 'Missing input file',
  });
  assert.equal(made.timeToLive('wildfire'), 365 * DAY);
});

test('flags win over the environment, the environment over the job file, the job file over the defaults', () => {
  const said = [
    { budget: 1, name: undefined },
    { budget: 2, reserve: 3, prefix: '' },
    { reserve: 4, prefix: 'x_' },
  ];
  const { name, budget, account, prefix, precision } = job(...said);
  assert.deepEqual([name, budget, account.reserve, prefix, precision], ['in', 1, 3, '', 4]);
});

const MINE = { credits_per_month: 600, credits_per_minute: 1_200 };
const REMOTE = { base_url: 'https://h.example' };

test('each setting has its place in the job; what nobody said of a paid account is assumed', () => {
  const reading = (said: JobFile) => ({ ...job(said).reading });
  assert.deepEqual(reading({}), {});
  assert.deepEqual(reading({ sheet: 2, encoding: 'latin1', delimiter: ';', header: false }), {
    ...{ sheet: '2', encoding: 'windows-1252', delimiter: ';', header: false },
  });
  const rows: readonly (readonly [said: JobFile, made: object])[] = [
    [
      {},
      { areas: null, counts: true, onFinish: null, jobFile: null, orderBy: { kind: 'recognized' } },
    ],
    [{ areas: 'tract' }, { areas: 'tract', counts: false }],
    [{ order_by: 'file' }, { orderBy: { kind: 'file' } }],
    [{ order_by: 'tiv' }, { orderBy: { kind: 'tiv' } }],
    [
      { order_by: { column: 'v' } },
      { orderBy: { kind: 'column', column: 'v', direction: 'desc' } },
    ],
    [
      { order_by: { column: 'v', direction: 'asc' } },
      { orderBy: { kind: 'column', column: 'v', direction: 'asc' } },
    ],
    [{ on_finish: ['./tell'] }, { onFinish: ['/here/tell'] }],
  ];
  for (const [said, made] of rows) assert.partialDeepStrictEqual(job(said), made);
  const assumed = ({ isTopicsAssumed, account }: Job) => [isTopicsAssumed, account.isDayAssumed];
  assert.deepEqual(assumed(job({ service: REMOTE }, {})), [true, true]);
  assert.deepEqual(assumed(job({ topics: 'park', service: REMOTE }, { anniversary_day: 3 })), [
    false,
    false,
  ]);
  assert.deepEqual(assumed(job({ service: 'sample' }, {})), [true, false]);
  const accounts: readonly (readonly [said: JobFile, name: string, isAssumed?: boolean])[] = [
    [{ service: REMOTE }, 'h.example', true],
    [{ service: REMOTE, subscription: 'starter', account: 'mine' }, 'mine'],
    [{ account: 'mine' }, 'mine'],
    // The embedded service has an account for each subscription.
    [{ service: 'sample', subscription: 'starter' }, 'embedded'],
    [{ service: 'sample', subscription: 'professional' }, 'embedded-professional'],
    [{ service: 'sample', subscription: MINE }, 'embedded-600-1200'],
    [{ service: 'sample', account: 'mine' }, 'embedded-mine'],
    [{ service: 'sample', account: 'embedded-mine' }, 'embedded-mine'],
  ];
  for (const [said, name, isAssumed = false] of accounts) {
    const { account } = job(said, {});
    assert.deepEqual([account.name, account.isAssumed], [name, isAssumed], JSON.stringify(said));
  }
  const unlimited = [
    job({ service: 'sample' }),
    job({ service: 'sample', subscription: 'starter' }),
    job(),
  ];
  assert.deepEqual(unlimited.map(isUnlimited), [true, false, false]);
});

test('the two location columns may come from two sources of settings; one column for both excludes one for each', () => {
  const both = { lat: 'y', lng: 'x' };
  for (const [first, second, location] of [
    [{ lat: 'Y' }, { lng: 'X' }, { lat: 'Y', lng: 'X' }],
    [{ lat: 'Y' }, both, { lat: 'Y', lng: 'x' }],
    [{ column: 'at' }, both, { column: 'at' }],
    [{ lat: 'Y' }, { column: 'at' }, { lat: 'Y' }],
    [{}, { column: 'at' }, { column: 'at' }],
  ] as const) {
    assert.deepEqual(job({ location: first }, { location: second }).location, location);
  }
});

test('the address and the keys of the service may come from two sources of settings', () => {
  const keys = { base_url: '', api_keys: [{ file: '/keys/a' }] };
  const address = { base_url: 'https://h.example/api/' };
  const both = {
    kind: 'remote',
    baseUrl: 'https://h.example/api',
    keys: [{ file: '/keys/a', scopes: null }],
  };
  assert.deepEqual(job({ service: keys }, { service: address }).service, both);
  assert.deepEqual(
    job({ service: address }, { service: { ...keys, base_url: 'https://old.example' } }).service,
    both,
  );
  assert.throws(() => job({ service: keys }), { code: 'USAGE', hint: /--base-url/ });
  assert.throws(() => job({ service: keys }, { service: 'sample' }), { code: 'USAGE' });
  const sample = { kind: 'sample' } as const;
  assert.deepEqual(job({ service: 'sample' }, { service: address }).service, sample);
  assert.deepEqual(job({ service: 'local' }, { service: address }).service, { kind: 'local' });
});

test('a service without keys takes the one of the environment; its host names the account', () => {
  const { service, account } = job({ service: { base_url: 'https://h.example:8443//' } });
  assert.deepEqual(service, {
    kind: 'remote',
    baseUrl: 'https://h.example:8443',
    keys: [{ env: 'PERILBOOK_API_KEY', scopes: null }],
  });
  assert.equal(account.name, 'h.example:8443');
});

test('the accounts of the sample are its own: their credits are called made up', () => {
  const of = (account: string | undefined, base_url: string) =>
    job({ ...(account !== undefined && { account }), service: { base_url } }).account.name;
  for (const [account, address] of [
    ['embedded', 'https://h.example'],
    ['embedded-mine', 'https://h.example'],
    [undefined, 'http://embedded'],
    [undefined, 'http://embedded-api'],
  ] as const) {
    assert.throws(() => of(account, address), {
      code: 'JOB_FILE',
      message: /is a name of the sample's accounts/,
      hint: /--account/,
    });
  }
  assert.equal(of('mine', 'http://embedded'), 'mine');
  assert.equal(of('Embedded', 'http://embedded'), 'Embedded');
  assert.equal(of(undefined, 'http://embedded:8080'), 'embedded:8080');
});

test('the name of an account is read as one name, however it is written, or refused', () => {
  const read = (account: string) => parseJobFile(JSON.stringify({ account }), 'job.yaml').account;
  for (const written of ['acme', ' acme', 'acme\r', '"acme"', "'acme' "])
    assert.equal(read(written), 'acme');
  assert.equal(read('Jürgen & Co. (2)'), 'Jürgen & Co. (2)');
  for (const [written, message] of [
    [' ', /empty/],
    ['""', /empty/],
    ['$ACCOUNT', /variable ACCOUNT/],
    ['%ACCOUNT%', /variable ACCOUNT/],
    ['a\nb', /control character/],
    ['a\u202eb', /control character/],
    ['x'.repeat(201), /200 characters/],
  ] as const)
    assert.throws(() => read(written), { code: 'JOB_FILE', message }, JSON.stringify(written));
});

test('the scopes of a key may be written with the names of groups', () => {
  const api_keys = [
    { env: 'A', scopes: ['bundle' as const, 'measurement', 'park'] },
    { env: 'B', scopes: ['all'] },
  ];
  const { service } = job({ service: { base_url: 'https://h.example', api_keys } });
  assert.ok(service.kind === 'remote');
  assert.deepEqual(service.keys[0]!.scopes, [
    'bundle',
    'park',
    'airQuality',
    'ozone',
    'pm25',
    'pm10',
    'radon',
    'floodZone',
  ]);
  assert.deepEqual(service.keys[1]!.scopes, [...TOPIC_SLUGS], 'the bundle is a scope of its own');
});

test('paths of a job file are relative to it, all others to the working folder', () => {
  const file = relativeTo('jobs', {
    input: 'in.csv',
    output: '../out/o.csv',
    store: 's.db',
    service: {
      base_url: 'https://h.example',
      api_keys: [{ file: '/abs/key' }, { file: 'key' }, { env: 'KEY' }],
    },
  });
  const made = makeJob([{ output: 'flag.csv' }, file], SURROUNDINGS);
  assert.deepEqual(
    [made.input, made.output, made.store],
    ['/here/jobs/in.csv', '/here/flag.csv', '/here/jobs/s.db'],
  );
  assert.equal(makeJob([file], SURROUNDINGS).output, '/here/out/o.csv');
  assert.ok(made.service.kind === 'remote');
  const places = made.service.keys.map(({ env, file: path }) => env ?? path);
  assert.deepEqual(places, ['/abs/key', '/here/jobs/key', 'KEY']);
  const absolute = relativeTo('/etc/jobs', { input: '/books/in.csv', output: '-' });
  assert.deepEqual([absolute.input, absolute.output], ['/books/in.csv', '-']);
  assert.equal(relativeTo('/etc/jobs', { input: 'in.csv' }).input, '/etc/jobs/in.csv');
  assert.deepEqual(relativeTo('.', { service: 'local' }), { service: 'local' });
});

test('the output stands beside the input, unless it is named; stdin goes to stdout', () => {
  assert.equal(job({ input: '/b/a.tar.parquet' }).output, '/b/a.tar.hazards.parquet');
  assert.equal(job({ input: '/b/noext' }).output, '/b/noext.hazards');
  for (const compressed of ['.csv.gz', '.CSV.GZ', '.ndjson.zst', '.tsv.zstd', '.gz']) {
    const { output, name } = job({ input: `/b/list${compressed}` });
    assert.deepEqual([output, name], [`/b/list.hazards${compressed}`, 'list']);
  }
  const piped = job({ input: '-' });
  assert.deepEqual([piped.input, piped.output, piped.name], ['-', '-', 'stdin']);
  assert.equal(job({ output: '-' }).output, '-');
  assert.equal(job({ input: '-', output: 'o.csv' }).output, '/here/o.csv');
});

test('a ceiling of overages is whole credits at the rate of the subscription, never more than its dollars', () => {
  const creditsOf = (ceiling: number, overage_rate?: number) =>
    job({
      subscription: { credits_per_month: 600, credits_per_minute: 1_200, overage_rate },
      overages: { ceiling },
    }).account.overageCredits;
  assert.deepEqual([creditsOf(1, 0.04), creditsOf(1, 0.03), creditsOf(0.029, 0.03)], [25, 33, 0]);
  assert.deepEqual([creditsOf(7, 0.07), creditsOf(0.3, 0.1), creditsOf(6.99, 0.07)], [100, 3, 99]);
  assert.equal(creditsOf(0, 0.04), 0);
  // The ledger keeps whole numbers.
  assert.deepEqual([creditsOf(1e300, 0.04), creditsOf(1, 1e-300)], [MOST, MOST]);
  for (const rate of [0, undefined]) {
    assert.throws(() => creditsOf(1, rate), {
      code: 'JOB_FILE',
      message: /overage rate/,
      hint: /overage_rate/,
    });
  }
  assert.equal(job({ overages: { ceiling: 1 } }).account.overageCredits, 25);
  assert.equal(job({}).account.overageCredits, 0);
});

test('topics are slugs and groups, in contract order, each once', () => {
  assert.deepEqual(parseTopics(['radon', 'park', 'radon', 'hail']), ['hail', 'park', 'radon']);
  assert.deepEqual(parseTopics(['wildfire', 'natural', 'nothing']), NATURAL_SLUGS);
  const groups = ['all', 'natural', 'proximity', 'measurement'] as const;
  fc.assert(
    fc.property(fc.subarray([...groups]), fc.shuffledSubarray([...TOPIC_SLUGS]), (named, slugs) => {
      const isNamed = (category: (typeof groups)[number]) =>
        named.includes('all') || named.includes(category);
      const expected = TOPICS.filter(
        ({ slug, category }) => isNamed(category) || slugs.includes(slug),
      );
      const all = expected.map(({ slug }) => slug);
      assert.deepEqual(parseTopics([...slugs, ...named]), all);
    }),
  );
});

const lives = (time_to_live: Record<string, string>, ...topics: TopicSlug[]) => {
  const { timeToLive } = job({ time_to_live });
  return topics.map((topic) => timeToLive(topic));
};

test('time to live: the contract’s cadence, else what a group says, else what the topic says', () => {
  const some = ['hail', 'park', 'nuclearReactors', 'alternativeFuels', 'ozone'] as const;
  assert.deepEqual(lives({}, ...some), [365 * DAY, 30 * DAY, null, DAY, 3_600_000]);
  assert.deepEqual(lives({ all: '2d' }, ...some), new Array(5).fill(2 * DAY));
  const [year, hour] = [365 * DAY, 3_600_000];
  assert.deepEqual(lives({ proximity: '1h', park: '30s' }, ...some), [
    year,
    30_000,
    hour,
    hour,
    hour,
  ]);
  assert.deepEqual(lives({ all: 'never', ozone: '90m' }, ...some), [
    null,
    null,
    null,
    null,
    5_400_000,
  ]);
});

test('a topic’s own line wins over its group, and the group over all, wherever the lines stand', () => {
  const said = Object.entries({
    all: '1d',
    natural: '2d',
    wildfire: '3d',
    measurement: '4d',
    radon: 'never',
  });
  fc.assert(
    fc.property(fc.shuffledSubarray(said, { minLength: said.length }), (lines) => {
      const found = lives(Object.fromEntries(lines), 'wildfire', 'hail', 'park', 'ozone', 'radon');
      assert.deepEqual(found, [3 * DAY, 2 * DAY, DAY, 4 * DAY, null]);
    }),
  );
});

test('an amount and a unit are a time; anything else is none', () => {
  const times = ['90s', ' 30 m ', '12h', '30d', '1.5h', '0d', '0.25h'].map(durationMs);
  assert.deepEqual(times, [90_000, 1_800_000, 43_200_000, 2_592_000_000, 5_400_000, 0, 900_000]);
  const texts = [
    '',
    ' ',
    'never',
    '30',
    'd',
    '-1d',
    '+1d',
    '1 day',
    '1D',
    '1w',
    '1.d',
    '.5h',
    '1h30m',
    '1,5h',
    '1e3s',
  ];
  for (const text of texts) assert.equal(durationMs(text), null, text);
});
