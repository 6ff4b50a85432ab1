import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

/** Every option that takes a number: how it is given, and values that are none for it beyond those that never are. */
const OPTIONS: readonly [args: string, option: string, ...more: string[]][] = [
  ['service start', 'port', '-1', '1.5', '65536', '1e9'],
  [
    'service account create --account a --credits-per-minute 10',
    'credits-per-month',
    '-1',
    '0',
    '1.5',
  ],
  [
    'service account create --account a --credits-per-month 10',
    'credits-per-minute',
    '-1',
    '0',
    '1.5',
  ],
  [
    'service account create --account a --credits-per-month 10 --credits-per-minute 10',
    'overage-rate',
    '-1',
  ],
  ['service key rotate', 'key', '-1', '1.5'],
  ['service key revoke', 'key', '-1', '1.5'],
  ['service key rotate --key 1', 'grace', '-1'],
  ['ui', 'port', '-1', '1.5', '65536', '1e9'],
  ['quota set', 'left', '-1', '1.5'],
  ['quota set', 'spent', '-1', '1.5'],
  ['plan input.csv', 'precision', '-1', '1.5', '9'],
  ['plan input.csv', 'budget', '-1', '1.5'],
  ['plan input.csv', 'reserve', '-1', '1.5'],
  ['plan input.csv', 'concurrency', '-1', '0', '1.5'],
  ['plan input.csv', 'max-minutes', '-1'],
  ['plan input.csv', 'overage-ceiling', '-1'],
  ['plan input.csv', 'anniversary-day', '-1', '0', '1.5', '32'],
];

for (const [args, option, ...more] of OPTIONS) {
  test(`perilbook ${args} --${option}: what is no number for it is a mistake of usage, not a bug`, async (t) => {
    const folder = folderWith(t, { 'input.csv': 'lat,lng\n40.1,-99.9\n' });
    const env = { XDG_DATA_HOME: folder };
    const interrupt = AbortSignal.timeout(2_000);
    for (const value of ['', ' ', 'abc', '1e999', 'NaN', '12abc', ...more]) {
      const given = `--${option}=${value}`;
      const { code, stderr } = await perilbook([...args.split(' '), given], {
        folder,
        env,
        interrupt,
      });
      assert.equal(code, 2, `${given}: ${stderr}`);
      assert.doesNotMatch(stderr, /this is a bug|NaN.*NaN/, given);
    }
  });
}
