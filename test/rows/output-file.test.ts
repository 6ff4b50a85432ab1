import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeEach, test } from 'node:test';
import { checkOutput, refuseWindowsName } from '../../src/rows/files/output-file.ts';
import { temporaryName } from '../../src/rows/files/temporary-files.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { LONG } from '../tier.ts';
import { fillProblems, type RowRequest, temporaryFolder, writeRows } from './book-fixture.ts';

const root = temporaryFolder();
const EXPECTED = 'lat,lng,hazard_status,hazard_note,hail_score\n1,2,ok,,1.5\n';
let folder = '';
let input = '';
let output = '';
let count = 0;

beforeEach(() => {
  folder = join(root, String(count++));
  mkdirSync(folder);
  [input, output] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
  writeFileSync(input, 'lat,lng\n1,2\n');
});

async function write(request: Partial<RowRequest> = {}) {
  const book = await openRowFile(input);
  return await writeRows(book, { output, ...request });
}

const MODES = { skip: process.platform === 'win32' && 'Windows has no such modes' };

test('the output replaces an old one and keeps its permissions', MODES, async () => {
  writeFileSync(output, 'old');
  chmodSync(output, 0o640);
  const result = await write();
  assert.equal(readFileSync(output, 'utf8'), EXPECTED);
  assert.deepEqual(result, { rows: 1, bytes: EXPECTED.length });
  assert.equal(statSync(output).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out.csv']);
});

test(
  'a new output is open to no more users than its input, a new report neither',
  MODES,
  async () => {
    for (const [mode, expected] of [
      [0o600, 0o600],
      [0o640, 0o640],
      [0o444, 0o644],
      [0o777, 0o644],
    ] as const) {
      chmodSync(input, mode);
      rmSync(output, { force: true });
      await write();
      assert.equal(statSync(output).mode & 0o777, expected, mode.toString(8));
    }
  },
);

const ROOT_ALONE = { skip: userInfo().uid !== 0 && 'root alone can be somebody else' };

test(
  'what another user laid at the name of the output, in a folder that all share, gets no rows',
  ROOT_ALONE,
  async () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chownSync(shared, 1, 1);
    const planted = join(shared, 'out.csv');
    const refusal = {
      code: 'OUTPUT_UNWRITABLE',
      message: /belongs to another user, or .* in a folder that all users share/,
    };
    for (const mode of [0o1777, 0o777]) {
      chmodSync(shared, mode);
      for (const lay of [
        () => symlinkSync(join(folder, 'elsewhere'), planted),
        () => spawnSync('mkfifo', [planted]),
        () => writeFileSync(planted, '', { mode: 0o666 }),
      ]) {
        lay();
        await checkOutput(planted, input);
        lchownSync(planted, 65_534, 65_534);
        await assert.rejects(checkOutput(planted, input), refusal);
        await assert.rejects(write({ output: planted }), refusal, 'laid there after the check');
        rmSync(planted);
      }
    }
  },
);

test(
  'nor is a folder used behind a link that another user has laid there',
  ROOT_ALONE,
  async () => {
    const [shared, team] = [join(folder, 'shared'), join(folder, 'shared/team')];
    for (const path of [shared, team, join(folder, 'own')]) mkdirSync(path);
    chmodSync(shared, 0o1777);
    for (const path of [team, join(folder, 'own')]) chownSync(path, 65_534, 65_534);
    symlinkSync('../own', join(shared, 'link'));
    await checkOutput(join(shared, 'link/out.csv'), input);
    lchownSync(join(shared, 'link'), 65_534, 65_534);
    for (const name of ['link/out.csv', 'link/../link/out.csv']) {
      await assert.rejects(checkOutput(join(shared, name), input), {
        message: /lies behind a link of one, in a folder/,
      });
    }
    await checkOutput(join(team, 'out.csv'), input);
    chownSync(shared, 65_534, 65_534);
    await checkOutput(join(shared, 'link/out.csv'), input);
  },
);

test(
  'a user without an entry in the list of users replaces his output, also one that he may not write to',
  ROOT_ALONE,
  async () => {
    writeFileSync(output, 'old', { mode: 0o444 });
    chmodSync(root, 0o711);
    for (const path of [folder, input, output]) chownSync(path, 61_234, 61_234);
    process.seteuid!(61_234);
    try {
      await checkOutput(output, input);
      await write();
    } finally {
      process.seteuid!(0);
    }
    assert.equal(readFileSync(output, 'utf8'), EXPECTED);
  },
);

test('an output with the longest name that a disk takes is written', async () => {
  const longest = join(folder, `${'o'.repeat(251)}.csv`);
  await write({ output: longest });
  assert.equal(readFileSync(longest, 'utf8'), EXPECTED);
  assert.deepEqual(readdirSync(folder).sort(), ['in.csv', basename(longest)]);
});

test('an old output in a folder on another disk, behind a link, is replaced', async (t) => {
  const isElsewhere = (path: string) =>
    existsSync(path) && statSync(path).dev !== statSync(folder).dev;
  const disk = ['/dev/shm', '/tmp'].find(isElsewhere);
  if (disk === undefined) return;
  const elsewhere = mkdtempSync(join(disk, 'perilbook-'));
  t.after(() => rmSync(elsewhere, { recursive: true }));
  symlinkSync(elsewhere, join(folder, 'linked'));
  output = join(folder, 'linked/out.csv');
  writeFileSync(output, 'old');
  await checkOutput(output, input);
  await write();
  assert.equal(readFileSync(output, 'utf8'), EXPECTED);
});

test('the old output is whole until the end, and the new one grows in a file beside it', async () => {
  writeFileSync(output, 'old');
  await write({
    fill: async (rows) => {
      assert.equal(readFileSync(output, 'utf8'), 'old');
      assert.ok(readdirSync(folder).some((name) => /^\.out\.csv\.[0-9a-f]+\.tmp$/.test(name)));
      return fillProblems(rows);
    },
  });
  assert.equal(readFileSync(output, 'utf8'), EXPECTED);
});

test('a failure and an abort leave the old output and nothing else', async () => {
  writeFileSync(output, 'old');
  const failures: readonly Partial<RowRequest>[] = [
    { fill: async () => Promise.reject(new Error('fill failed')) },
    { fill: async () => [] },
    { fill: async (rows) => rows.map(() => ['too few']) },
    { signal: AbortSignal.abort(new Error('stopped')) },
  ];
  for (const failure of failures) await assert.rejects(write(failure));
  const stop = new AbortController();
  const stopped = write({
    signal: stop.signal,
    fill: async (rows) => {
      stop.abort(new Error('stopped'));
      return fillProblems(rows);
    },
  });
  await assert.rejects(stopped, /stopped/);
  assert.equal(readFileSync(output, 'utf8'), 'old');
  assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out.csv']);
});

test('an output that is the input is refused, by whatever name', async () => {
  symlinkSync('in.csv', join(folder, 'link.csv'));
  linkSync(input, join(folder, 'hard.csv'));
  for (const name of ['in.csv', 'link.csv', 'hard.csv', '../in.csv'.replace('..', '.')]) {
    const refused = {
      code: 'OUTPUT_UNWRITABLE',
      message: /is the input itself/,
      hint: /Choose another/,
    };
    await assert.rejects(write({ output: join(folder, name) }), refused);
    await assert.rejects(checkOutput(join(folder, name), input), refused);
  }
  assert.equal(readFileSync(input, 'utf8'), 'lat,lng\n1,2\n');
});

test('an output that cannot be written is refused before any row is read', async () => {
  const cases: readonly (readonly [output: string, message: RegExp])[] = [
    [folder, /is a directory/],
    [join(folder, 'none', 'out.csv'), /folder that does not exist/],
    [join(input, 'out.csv'), /folder that does not exist/],
  ];
  for (const [path, message] of cases) {
    const fill = async () => assert.fail('no row may be read');
    await assert.rejects(write({ output: path, fill }), { code: 'OUTPUT_UNWRITABLE', message });
    await assert.rejects(checkOutput(path, input), { code: 'OUTPUT_UNWRITABLE', message });
  }
});

test('a check leaves nothing behind', async () => {
  await checkOutput(output, input);
  await checkOutput('-', input);
  await checkOutput(output, '-');
  assert.deepEqual(readdirSync(folder), ['in.csv']);
});

test('a link stays a link and what it points to is replaced, even when that is missing', async () => {
  mkdirSync(join(folder, 'place'));
  symlinkSync(join('place', 'real.csv'), output);
  for (let i = 0; i < 2; i++) {
    await write();
    assert.ok(lstatSync(output).isSymbolicLink());
    assert.equal(readFileSync(join(folder, 'place', 'real.csv'), 'utf8'), EXPECTED);
  }
  assert.deepEqual(readdirSync(join(folder, 'place')), ['real.csv']);
});

test(
  'rows whose output is held by another program when they are done are kept beside it',
  ROOT_ALONE,
  async (t) => {
    writeFileSync(output, 'old');
    let isHeld = false;
    t.after(() => spawnSync('umount', [output]));
    // A mount cannot be replaced either, and only root can make one.
    const fill: typeof fillProblems = (rows) => {
      isHeld = spawnSync('mount', ['--bind', output, output]).status === 0;
      return fillProblems(rows);
    };
    const ended = await write({ fill }).catch((error: unknown) => error);
    if (!isHeld) return t.skip('nothing can be mounted here');
    const beside = join(folder, 'out (new).csv');
    assert.match(
      String(ended),
      /out\.csv is held by another program: the rows are in .*out \(new\)\.csv/,
    );
    assert.equal(readFileSync(beside, 'utf8'), EXPECTED);
    assert.equal(readFileSync(output, 'utf8'), 'old');
    assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out (new).csv', 'out.csv']);
  },
);

test('rows whose output has become a folder are refused, and lie nowhere else', async () => {
  const fill: typeof fillProblems = (rows) => {
    mkdirSync(output);
    return fillProblems(rows);
  };
  const isRefused = (error: Error) => !error.message.includes('another program') && 'code' in error;
  await assert.rejects(write({ fill }), isRefused);
  assert.deepEqual(readdirSync(folder).sort(), ['in.csv', 'out.csv']);
});

const ON_WINDOWS = {
  skip: process.platform !== 'win32' && 'Windows alone keeps others from an open file',
};

test(
  'an output that another program holds is refused before anything is bought',
  ON_WINDOWS,
  async () => {
    writeFileSync(output, 'old');
    // UV_FS_O_EXLOCK: opened as Excel opens a workbook, for itself alone.
    const held = openSync(output, constants.O_RDWR | 0x10000000);
    await assert.rejects(checkOutput(output, input), { message: /is held by another program/ });
    closeSync(held);
    await checkOutput(output, input);
  },
);

test('a name that Windows gives to a device or hides is refused there: its rows would be lost', () => {
  const devices = ['NUL', 'con.csv', 'C:\\out\\Aux.tar.gz', 'com1', 'LPT9.xlsx', 'nul .csv'];
  const refused = [
    ...devices,
    'C:\\out\\10:30.csv',
    'was?.csv',
    'all*',
    '<new>.csv',
    'a|b',
    'a\tb.csv',
  ];
  const taken = [
    'console.csv',
    'nul/out.csv',
    'com.csv',
    'com10.csv',
    'a.nul',
    'C:out.csv',
    '\\\\?\\C:\\out.csv',
  ];
  const message = /is (the name of a device|no name of a file) on Windows/;
  for (const name of refused)
    assert.throws(() => refuseWindowsName(name, 'win32'), { message }, name);
  for (const name of taken) refuseWindowsName(name, 'win32');
  for (const name of refused) refuseWindowsName(name, 'darwin');
});

test('a device takes the bytes and stays', {
  skip: process.platform === 'win32' && 'no /dev/null',
}, async () => {
  assert.deepEqual(await write({ output: '/dev/null' }), { rows: 1, bytes: EXPECTED.length });
  assert.ok(statSync('/dev/null').isCharacterDevice());
});

test('standard output that is appended to the input is refused, and a pipe in place of the input is not waited for', async () => {
  const stdout = createWriteStream(input, { flags: 'a' });
  await once(stdout, 'open');
  const appended = await openRowFile(input, {}, { stdin: process.stdin, stdout });
  await assert.rejects(writeRows(appended, { output: '-' }), {
    message: 'standard output is the input itself',
  });
  stdout.destroy();
  assert.equal(readFileSync(input, 'utf8'), 'lat,lng\n1,2\n');
  rmSync(input);
  spawnSync('mkfifo', [input]);
  await assert.rejects(writeRows(appended, { output }), {
    code: 'INPUT_UNREADABLE',
    message: /has changed/,
  });
});

test(
  'a slow reader of standard output is waited for, and one that leaves is named',
  LONG,
  async () => {
    writeFileSync(input, `lat,lng\n${'1,2\n'.repeat(300_000)}`);
    let waiting = 0;
    let most = 0;
    let taken = 0;
    const slow = new Writable({
      write(chunk, _encoding, done) {
        most = Math.max(most, ++waiting);
        taken += chunk.length;
        setTimeout(() => {
          waiting--;
          done();
        }, 2);
      },
    });
    const book = await openRowFile(input, {}, { stdin: process.stdin, stdout: slow });
    const request = { output: '-' };
    const { bytes } = await writeRows(book, request);
    assert.equal(taken, bytes);
    assert.equal(most, 1);
    const gone = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    const other = await openRowFile(input, {}, { stdin: process.stdin, stdout: gone });
    await assert.rejects(writeRows(other, request), {
      code: 'OUTPUT_UNWRITABLE',
      message: /closed by its reader/,
    });
  },
);

test('an abort just before a write to standard output is heard', { timeout: 10_000 }, async () => {
  const stuck = new Writable({ write: () => {} });
  const stop = new AbortController();
  const book = await openRowFile(input, {}, { stdin: process.stdin, stdout: stuck });
  const fill: typeof fillProblems = (rows) => {
    stop.abort(new Error('stopped'));
    return fillProblems(rows);
  };
  const request = { output: '-', fill, signal: stop.signal };
  await assert.rejects(writeRows(book, request), /stopped/);
});

test('what a killed process left of an output is removed; that of a running one, and of other outputs, stays', async () => {
  rmSync(input);
  const dead = spawnSync(process.execPath, ['--version']).pid.toString(16).padStart(8, '0');
  const own = basename(temporaryName(output));
  const ofDead = (name: string) => name.replace(/(?<=^\..+\.[0-9a-f]{8})[0-9a-f]{8}/, dead);
  const elsewhere = ofDead(own).replace(/(?<=^\.out\.csv\.)[0-9a-f]{8}/, (digits) =>
    digits.split('').reverse().join(''),
  );
  const others = [
    own,
    ofDead(basename(temporaryName(join(folder, 'other.csv')))),
    elsewhere,
    '.out.csv.backup.tmp',
  ];
  for (const name of [...others, ofDead(own)]) writeFileSync(join(folder, name), 'lat,lng\n');
  await checkOutput(output, '-');
  assert.deepEqual(readdirSync(folder).sort(), others.sort());
});
