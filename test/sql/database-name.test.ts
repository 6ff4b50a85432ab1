// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a shell did not replace is what is tried here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDatabaseName } from '../../src/sql/database-name.ts';
import { locatePostgres } from '../../src/sql/postgres-address.ts';
import { STORE_DATABASE } from '../../src/store/store-address.ts';

const READ: Readonly<Record<string, readonly string[]>> = {
  's.db': [
    ...['s.db', ' s.db ', '"s.db"', "'s.db'", '“s.db”', '„s.db“', '«s.db»', 's.db\n', '\ufeffs.db'],
    ...['sqlite:///s.db', 'sqlite://s.db', 'sqlite:s.db', 'sqlite3:///s.db', 'SQLITE:///s.db'],
    ...['sqlite+aiosqlite:///s.db', 'jdbc:sqlite:s.db', 'file:s.db'],
  ],
  './d:s.db': ['./d:s.db', 'file:./d:s.db'],
  './s.db': ['./s.db', 'file:./s.db', 'sqlite:///./s.db', 'sqlite:./s.db'],
  '~/s.db': ['~/s.db', 'sqlite:///~/s.db'],
  '/data/my s.db': [
    ...[
      '/data/my s.db',
      'sqlite:////data/my s.db',
      'sqlite:/data/my s.db',
      'jdbc:sqlite:/data/my s.db',
    ],
    ...['file:///data/my%20s.db', 'file:/data/my%20s.db', 'file://localhost/data/my%20s.db'],
  ],
  'postgres://u@h/d': [
    ...['postgres://u@h/d', ' postgres://u@h/d', "'postgres://u@h/d'", 'jdbc:postgres://u@h/d'],
    'postgres+psycopg://u@h/d',
  ],
  'postgresql://u@h:5432/d?sslmode=require': [
    'postgresql+psycopg2://u@h:5432/d?sslmode=require',
    'jdbc:postgresql://u@h:5432/d?sslmode=require',
  ],
  'postgres:///d?host=/run/pg&port=5432&user=r': ['postgres://r@/d?host=/run/pg&port=5432'],
  'postgres:///d?user=r': ['postgres://r@/d'],
  'me@work/s.db': ['me@work/s.db'],
};

for (const [name, texts] of Object.entries(READ)) {
  test(`${name} is read from each way to write it`, () => {
    for (const text of texts) assert.equal(readDatabaseName(text, 'linux'), name, text);
  });
}

const REFUSED: readonly (readonly [why: RegExp, texts: readonly string[]])[] = [
  [
    /^mysql: begins no address/,
    ['mysql://u:geheim@h/x', 'MYSQL://h', 'mysql:u:geheim@h', 'mysql:x.db'],
  ],
  [
    /^[a-z0-9+]+: begins no address/,
    [
      ...[
        's3://b/s.db',
        'https://h/s.db',
        'mssql+pyodbc://u:geheim@h/x',
        'libsql://h',
        'redis://h',
      ],
      ...['postgres:u:geheim@h', 'postgres:/u@h/d', 'postgresql:d', 'pg://h/d', 'localhost:5432/d'],
    ],
  ],
  [
    /address of a server/,
    [
      ...[
        'postgres//u@h/d',
        'postgres;//h/d',
        'postgresql//h',
        'x:geheim@h',
        'u@h:5432/d',
        '10.0.0.1:5432/d',
      ],
      ...['[::1]:5432/d', '1:geheim@h/s.db'],
    ],
  ],
  [
    /contains a password/,
    [
      ...[
        'postgres://u:geheim@h/d',
        'postgresql+asyncpg://u:geheim@h/d',
        ' postgres://u:geheim@h/d',
      ],
      ...[
        'postgres://u:5/geheim@h/d',
        'postgres://u:5?geheim@h',
        'postgres://u:geheim@',
        'postgres://u%3Ageheim@h',
      ],
      ...['jdbc:postgresql://h/d?user=u&password=geheim', 'postgres://h/d?sslpassword=geheim'],
    ],
  ],
  [
    /parts of an address/,
    [
      ...[
        'host=h user=u password=geheim',
        'dbname=d password=geheim',
        'Server=h;User Id=u;Password=geheim',
      ],
      ...[
        'store=s.db',
        'Data Source=h;Pwd=geheim',
        'Driver={PostgreSQL};Server=h',
        'service=hazards',
      ],
    ],
  ],
  [
    /the variable \w+ in it was not replaced/,
    [
      ...[
        '$HOME/s.db',
        '${HOME}/s.db',
        '${HOME:-geheim}/s.db',
        '$(pwd)/s.db',
        '`pwd`/s.db',
        '$1',
        'a/$X.db',
      ],
      ...[
        '%APPDATA%\\s.db',
        '%ProgramFiles(x86)%\\s.db',
        '!HOME!\\s.db',
        '%h/s.db',
        '%S/perilbook/%i.db',
      ],
      ...[
        '$env:APPDATA\\s.db',
        '${env:HOME}/s.db',
        '${{ secrets.STORE }}',
        '{{ home }}/s.db',
        '{HOME}/s.db',
      ],
      ...['<store>', '<home>/s.db', '%(home)s/s.db', '@HOME@/s.db', '%HOME/s.db'],
      ...[
        'postgres://$PGUSER@h/d',
        'postgres://u@${HOST}/d',
        'sqlite:///$DB',
        'file:///$HOME/s.db',
      ],
    ],
  ],
  [
    /in memory/,
    [':memory:', 'sqlite://', 'sqlite:///:memory:', 'sqlite::memory:', 'file::memory:'],
  ],
  [/parameters/, ['s.db?mode=ro', 'file:s.db?mode=ro', 'sqlite:///s.db?timeout=5', 'file:s.db#x']],
  [/quote at its/, ['"s.db', "s.db'", '“s.db', 's.db»']],
  [/begins as an option/, ['--store', '--s.db', '=s.db']],
  [/three slashes/, ['sqlite:///data/s.db', 'sqlite:///home/me/s.db']],
  [/names another machine/, ['//server/share/s.db', 'file://server/share/s.db']],
  [
    /path of Windows/,
    [
      'C:\\data\\s.db',
      'C:/data/s.db',
      'D:s.db',
      'd:',
      '/C:/data/s.db',
      './C:/s.db',
      'sqlite:D:s.db',
      'file:///C:/s.db',
      'file:///c|/s.db',
      '\\\\server\\share\\s.db',
      'data\\s.db',
      'sqlite:///C:/s.db',
    ],
  ],
  [/control character/, ['a\0b.db', 'file:a%00b.db', 'a\nb.db', '\u001b[31ms.db']],
  [/half a character/, ['\ud800.db']],
  [/is a folder/, ['.', '..', 'a/', '/', '~', '~ann', 'a/..', 'file:///']],
  [/is empty/, ['', ' ', '""', 'file:']],
  [/standard input/, ['-']],
  [/longer than/, ['x'.repeat(256), `/${'x/'.repeat(2_100)}s.db`]],
  [/cannot be read/, ['postgres://h:99999/d', 'postgres://h h/d', 'postgres://[::1/d', 'file:%zz']],
];

for (const [why, texts] of REFUSED) {
  test(`refused: ${why.source}`, () => {
    for (const text of texts) {
      const name = readDatabaseName(text, 'linux');
      assert.ok(typeof name !== 'string', `${text} was read as ${name}`);
      assert.match(name.fault, why, text);
      assert.ok(!name.fault.includes('geheim'), name.fault);
      assert.match(name.fault, /Name a file, such as .*postgres:\/\/user@host/);
    }
  });
}

test('on Windows drives and shares are paths, and devices are none', () => {
  for (const path of [
    'C:\\data\\s.db',
    'C:/me@work/s.db',
    'D:s.db',
    '\\\\server\\C$\\s.db',
    'data\\s.db',
  ])
    assert.equal(readDatabaseName(path, 'win32'), path);
  assert.equal(readDatabaseName('sqlite:///C:/data/s.db', 'win32'), 'C:/data/s.db');
  assert.equal(readDatabaseName('file:///C:/data/s.db', 'win32'), 'C:/data/s.db');
  for (const device of [
    'NUL',
    'D:',
    'D:..',
    'data\\con.db',
    'a?.db',
    's.db:stream',
    '%APPDATA%\\s.db',
  ])
    assert.ok(typeof readDatabaseName(device, 'win32') !== 'string', device);
});

test('a role without a host logs in on the socket that the parameters name', () => {
  const name = readDatabaseName('postgres://r%40x@/d?host=/run/pg&port=6000') as string;
  const { host, port, user, database } = locatePostgres(name, STORE_DATABASE).connection;
  assert.deepEqual([host, port, user, database], ['/run/pg', 6_000, 'r@x', 'd']);
});
