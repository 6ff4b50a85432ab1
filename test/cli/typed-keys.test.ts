import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { locatePostgres } from '../../src/sql/postgres-address.ts';
import { STORE_DATABASE } from '../../src/store/store-address.ts';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

/** With the shape of a key, and without any. */
const KEYS = ['pb_4fQx9Zk2LmN8rTv1WyB3cD5eF7gH0jKpSuXaYbMdQeR', 'pb_live_correct_horse_battery_1'];

const service = (apiKeys: string) =>
  `service: {base_url: "http://127.0.0.1:1", api_keys: ${apiKeys}}\n`;
const block = (apiKeys: string) =>
  `service:\n  base_url: http://127.0.0.1:1\n  api_keys:\n${apiKeys}`;

/** Where people type a key. */
const PLACES: readonly (readonly [where: string, yaml: (key: string) => string])[] = [
  ['as a name in a list of flow style', (key) => service(`[{${key}}]`)],
  ['as a name without a value', (key) => service(`[{${key}: }]`)],
  ['as a name with a value', (key) => service(`[{${key}: env}]`)],
  ['as a name in a block', (key) => block(`    - ${key}:\n`)],
  ['as a map in place of the list', (key) => service(`{${key}: }`)],
  ['as an alias', (key) => service(`[*${key}]`)],
  ['as an alias in a block', (key) => block(`    - *${key}\n`)],
  ['as an alias of a variable', (key) => service(`[{env: *${key}}]`)],
  ['as a tag', (key) => service(`[!${key} ]`)],
  ['as a variable', (key) => service(`[{env: ${key}}]`)],
  ['as a file', (key) => service(`[{file: ${key}}]`)],
  ['as a file beside a mistake', (key) => service(`[{file: ${key}, scope: [hail]}]`)],
  ['as a scope', (key) => service(`[{env: A, scopes: [${key}]}]`)],
  [
    'beside a mistake of the same line',
    (key) => `service: {base_ulr: "http://h.example", api_keys: [{file: ${key}}]}\n`,
  ],
  ['as a setting of the service', (key) => `service: {base_url: "http://127.0.0.1:1", ${key}}\n`],
  ['as a setting of the job', (key) => `API-Key: ${key}\n`],
  ['as the key of a key', (key) => service(`[{key: ${key}}]`)],
  [
    'as the api_key of the service',
    (key) => `service: {base_url: "http://127.0.0.1:1", api_key: ${key}}\n`,
  ],
  ['in the list', (key) => service(`[${key}]`)],
  ['in place of the list', (key) => service(key)],
  ['in the address, as a query', (key) => `service: {base_url: "https://h.example/?key=${key}"}\n`],
  ['in the address, as a user', (key) => `service: {base_url: "https://${key}@h.example"}\n`],
  [
    'on a line that is no YAML',
    (key) => `service: {base_url: "https://h.example", api_keys: [{key: ${key}}\n`,
  ],
  ['as the service', (key) => `service: ${key}\n`],
  ['as the address', (key) => `service: {base_url: ${key}}\n`],
  ['as the password of the address', (key) => `service: {base_url: "https://:${key}@h.example"}\n`],
  ['in a list that never ends', (key) => service(`[{file: ${key}}`)],
  ['in a quote that never ends', (key) => block(`    - file: "${key}\n`)],
  [
    'behind a forgotten colon',
    (key) => `service:\n  base_url: http://h.example\n  api_keys\n    - ${key}\n`,
  ],
  ['as the program of on_finish', (key) => `on_finish: ${key}\n`],
  [
    'in an address as the program of on_finish',
    (key) => `on_finish: ["https://h.example/${key}"]\n`,
  ],
];

for (const [where, yaml] of PLACES) {
  test(`a key in a job file ${where}: never shown`, async (t) => {
    const folder = folderWith(t, { 'book.csv': 'id,lat,lng\n1,34.0522,-118.2437\n' });
    for (const key of KEYS) {
      writeFileSync(join(folder, 'job.yaml'), `input: book.csv\n${yaml(key)}`);
      for (const words of [
        ['job', 'check', 'job.yaml'],
        ['job', 'check', 'job.yaml', '--json'],
        ['plan', 'job.yaml'],
        ['run', 'job.yaml', '--yes', '--json'],
      ]) {
        const { stdout, stderr } = await perilbook(words, { folder });
        assert.ok(!`${stdout}${stderr}`.includes(key), `${words.join(' ')}: ${stdout}${stderr}`);
      }
    }
  });
}

test('a password in a PostgreSQL address is refused, and not shown', async (t) => {
  const folder = folderWith(t, { 'book.csv': 'lat,lng\n34.0522,-118.2437\n' });
  const store = ['--store', 'postgres://me:geheim@127.0.0.1/hazards'];
  const { code, stdout, stderr } = await perilbook(
    ['run', 'book.csv', '-t', 'hail', '-b', '9', ...store],
    { folder },
  );
  assert.deepEqual([code, /--store: it contains a password/.test(stderr)], [2, true], stderr);
  assert.ok(!`${stderr}${stdout}`.includes('geheim'));
  for (const address of [
    'postgres://me%3Ageheim@db.example.com/hazards',
    'postgres://me%3ageheim@db.example.com/hazards',
    'postgres://%3Ageheim@localhost/hazards',
    'postgres://db.example.com/hazards?pass%77ord=geheim',
  ]) {
    assert.throws(
      () => locatePostgres(address, STORE_DATABASE),
      (error: Error & { hint?: string }) => {
        assert.match(error.message, /contains a password/);
        return !JSON.stringify([error.message, error.hint, error.stack]).includes('geheim');
      },
      address,
    );
  }
});
