import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { byteBuffer, type DirectFile } from '../../src/rows/files/byte-buffer.ts';
import { type MakePiece, writePieces } from '../../src/rows/files/piece-writer.ts';
import { ThreadPool } from '../../src/threads/thread-pool.ts';
import { temporaryFolder } from './book-fixture.ts';

const folder = temporaryFolder();
const PIECES = 20;

/** Pieces of different sizes. */
const makePiece: MakePiece<number, string> = async (number, gathered) => {
  gathered.addText(`${number}:${'x'.repeat(number * 7)};`);
  return `piece ${number}`;
};
const expected = Array.from({ length: PIECES }, (_, n) => `${n}:${'x'.repeat(n * 7)};`).join('');

/** A file from a position on. */
function fileAt(fd: number, begin: number): DirectFile {
  let position = begin;
  return {
    name: 'out.csv',
    fd,
    take(bytes) {
      position += bytes;
      return position - bytes;
    },
  };
}

/** Where the pieces are made beside this thread. */
interface Threads {
  readonly threads: number;
  readonly module: string;
}

/** Writes the pieces. @param direct the file; left out: they are written in order */
async function write(
  direct: DirectFile | undefined,
  make = makePiece,
  signal?: AbortSignal,
  { threads, module }: Threads = { threads: 0, module: import.meta.url },
) {
  const parts: Buffer[] = [];
  const gathered = byteBuffer(
    async (bytes) => void parts.push(Buffer.from(bytes)),
    undefined,
    direct,
  );
  await using pool = new ThreadPool({ threads, purpose: 'wrote rows' });
  const work = {
    pool,
    module,
    setup: null,
    items: Array.from({ length: PIECES }, (_, number) => number),
    taskOf: async (number: number) => number,
    memoryOf: () => [],
    signal,
  };
  const told: string[] = [];
  for await (const { facts } of writePieces(gathered, work, make)) told.push(facts);
  await gathered.finish();
  return { told, text: Buffer.concat(parts).toString('latin1') };
}

test('pieces of any size lie where they belong in a file, and come in order to a pipe', async () => {
  const path = join(folder, 'out.csv');
  const fd = openSync(path, 'w');
  const { told } = await write(fileAt(fd, 0));
  assert.equal(readFileSync(path, 'latin1'), expected);
  assert.deepEqual([told.length, told[3]], [PIECES, 'piece 3']);
  // Beyond what four bytes count: such a file takes no room where it is empty.
  await write(fileAt(fd, 5 * 2 ** 30));
  closeSync(fd);
  assert.equal((await write(undefined)).text, expected);
});

test('a full disk, a piece that cannot be made and an abort end the writing', async () => {
  if (process.platform !== 'win32') {
    const full = openSync('/dev/full', 'w');
    await assert.rejects(write(fileAt(full, 0)), {
      code: 'OUTPUT_UNWRITABLE',
      message: /does not fit on its disk/,
    });
    closeSync(full);
  }
  const failing: typeof makePiece = async (number, gathered) => {
    if (number === 7) throw new Error('no piece');
    return await makePiece(number, gathered);
  };
  await assert.rejects(write(undefined, failing), /no piece/);
  const stopped = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(write(undefined, makePiece, stopped), /stopped/);
});

test('a thread that dies in the middle ends the writing with its name', async () => {
  const begun = join(folder, 'begun');
  // It answers that it has begun, so it gets tasks.
  const code = `import { writeFileSync } from 'node:fs';
  export const inThread = () => {
    writeFileSync(${JSON.stringify(begun)}, '');
    return {
      async run({ kind, number, task }) {
        if (number > 5) process.exit(9);
        return kind === 'make' ? { kind: 'made', size: 0, facts: 'there' } : { kind: 'written' };
      },
    };
  };`;
  const module = `data:text/javascript,${encodeURIComponent(code)}`;
  const path = join(folder, 'died.csv');
  const fd = openSync(path, 'w');
  // This thread makes nothing before the other one has begun, and is slow then, so that the other one gets the later pieces.
  const slow: typeof makePiece = async (number, gathered) => {
    do await delay(50);
    while (!existsSync(begun));
    return await makePiece(number, gathered);
  };
  await assert.rejects(write(fileAt(fd, 0), slow, undefined, { threads: 1, module }), {
    code: 'THREAD_FAILED',
    message: 'A thread that wrote rows ended with code 9',
  });
  closeSync(fd);
});
