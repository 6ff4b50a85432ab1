// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a shell did not replace is what is tried here.
import assert from 'node:assert/strict';
import { existsSync, globSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { readInputPath, readPath, withoutQuotes } from '../../src/base/path-names.ts';
import { readServiceAddress } from '../../src/contract/service-address.ts';
import { readDatabaseName } from '../../src/sql/database-name.ts';
import { isPostgresAddress } from '../../src/sql/postgres-address.ts';
import { anyCharacter, fc } from '../properties.ts';
import { folderWith } from '../sample-database.ts';
import { times } from '../tier.ts';
import { perilbook } from './command-line.ts';

const SECRET = 'geheim7';

/** Parts of what people, shells and other programs write, the secret only where a password or a key belongs. */
const PIECES: readonly string[] = [
  ...[
    'postgres:',
    'postgresql+psycopg2:',
    'jdbc:',
    'mysql:',
    'sqlite:',
    'sqlite+aiosqlite:',
    'file:',
    'https:',
    's3:',
  ],
  ...[
    '//',
    '///',
    '////',
    '/',
    '\\',
    '\\\\',
    './',
    '../',
    '~/',
    'C:',
    'C:\\',
    '-',
    '.',
    ':memory:',
    ' ',
    '"',
    "'",
    '\n',
  ],
  ...[
    '$HOME',
    '${HOME}',
    `\${PW:-${SECRET}}`,
    '$env:X',
    '%APPDATA%',
    '%h/',
    '!X!',
    '${{ secrets.X }}',
    '{{ x }}',
    '`x`',
    '$(x)',
  ],
  ...[
    `u:${SECRET}@`,
    `:${SECRET}@`,
    `u:p/${SECRET}@`,
    'u@',
    'h',
    'h:5432',
    '127.0.0.1:1',
    '[::1]',
    '/db',
    'db.example.com',
  ],
  ...[
    '?mode=ro',
    `?password=${SECRET}`,
    `&sslpassword=${SECRET}`,
    '?host=/run',
    '&port=1',
    '#x',
    '%41',
    '%zz',
    '%00',
  ],
  ...[
    ` host=h password=${SECRET}`,
    ` Server=h;Pwd=${SECRET}`,
    's.db',
    'a',
    'data/',
    'out.csv',
    'NUL',
    '\0',
    '\u001b[31m',
    '\ud800',
    '😀',
  ],
];

const text = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
      .map((pieces) => pieces.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(300), '/x'.repeat(3_000)) },
);

const DRAWN = times({ short: 3_000, long: 20_000, soak: 100_000 });

for (const [door, read] of [
  ['a store', readDatabaseName],
  ['a written file', readPath],
  ['an input', readInputPath],
  ['the address of a service', readServiceAddress],
] as const) {
  test(`${DRAWN} texts as ${door}: each is read as itself or refused without its secrets`, () => {
    fc.assert(
      fc.property(text, fc.constantFrom('linux', 'win32'), (given, system) => {
        const name = read(given, system as NodeJS.Platform);
        if (typeof name !== 'string')
          return assert.ok(!name.fault.includes(SECRET) && name.fault.length < 400, name.fault);
        if (isPostgresAddress(name)) return assert.ok(!name.includes(SECRET), name);
        if (door === 'an input') return;
        // What is read is what stands at the end of the text: nothing is made up, and nothing in it is for another program.
        const plain = withoutQuotes(given);
        const isEncoded = /^file:/i.test(plain);
        assert.ok(isEncoded || plain.endsWith(name.replace(/^\//, '')), name);
        if (door === 'a store') {
          assert.ok(!name.includes(SECRET), name);
          assert.doesNotMatch(name, /(?<!^\w):\/\/|^\w{2,}:|\?\w+=|(?<! )\$\w|\$\{|%APPDATA%|\{\{/);
        }
      }),
      { numRuns: DRAWN },
    );
  });
}

test('a drive of Windows is refused elsewhere, whichever way it is written', () => {
  for (const path of ['C:\\o.csv', 'C:/o.csv', 'D:o.csv', 'file:///C:/o.csv', 'file:C:/o.csv']) {
    const name = readPath(path, 'linux');
    assert.match(typeof name === 'string' ? name : name.fault, /path of Windows/, path);
    assert.ok(typeof readPath(path, 'win32') === 'string', path);
  }
  assert.equal(readPath('./d:o.csv', 'linux'), './d:o.csv');
});

const RUN = times({ short: 12, long: 100, soak: 400 });

test(`${RUN} texts as --store of a plan: none is a bug, and no file is made but the one that its text names`, async (t) => {
  const folder = folderWith(t, { 'book.csv': 'id,lat,lng\n1,34.0522,-118.2437\n' });
  const list = () =>
    globSync('**/*', { cwd: folder, exclude: (name) => /\.local$/.test(name) }).sort();
  const before = list();
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      const name = readDatabaseName(given);
      // Whether a server is there is another test's.
      fc.pre(typeof name !== 'string' || (!isPostgresAddress(name) && !/^[/~]|^\.\./.test(name)));
      const words = [
        'plan',
        'book.csv',
        '--topics',
        'hail',
        '--service',
        'sample',
        `--store=${given}`,
      ];
      const { code, stdout, stderr } = await perilbook(words, { folder });
      const printed = stdout + stderr;
      assert.ok(code === 0 || code === 2, printed);
      assert.ok(!printed.includes(SECRET), printed);
      const made = list().filter((path) => !before.includes(path));
      if (typeof name !== 'string') assert.deepEqual(made, [], given);
      else {
        const path = relative(folder, resolve(folder, name));
        for (const one of made) assert.ok(one.startsWith(path) || path.startsWith(`${one}/`), one);
        assert.ok(code !== 0 || existsSync(join(folder, path)));
      }
      for (const one of made) rmSync(join(folder, one), { recursive: true, force: true });
    }),
    { numRuns: RUN },
  );
});
