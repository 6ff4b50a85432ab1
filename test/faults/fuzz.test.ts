import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { parseJobFile } from '../../src/job/read-job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { fc } from '../properties.ts';
import { writeRows } from '../rows/book-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';

const TIMES = times({ long: 4, soak: 30 });
const LONGEST_MS = 60_000;
const SAMPLES = new URL('../../', import.meta.url);
const sample = (name: string, bytes = 3_000) =>
  readFileSync(new URL(name, SAMPLES)).subarray(0, bytes);

const TEXT = 'id,lat,lng,note\r\n1,40.25,-99.75,"a ""b""\n, c"\r\n2,,,\r\n3,40.5,-98.5,=1+1\r\n';
const BOOKS: readonly Buffer[] = [
  Buffer.from(TEXT),
  Buffer.from(`\ufeff${TEXT.replaceAll(',', ';').replaceAll('.', ',')}`),
  Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
  Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16(),
  Buffer.from(TEXT.replace('note', 'h\xe9t\x80'), 'latin1'),
  Buffer.from(`sep=|\n${TEXT.replaceAll(',', '|')}`),
  sample('sample-data/portfolio-oed.csv'),
  Buffer.from('{"id":1,"lat":40.25,"lng":-99.75}\n{"id":2,"lat":null,"b":[1,{"c":"\\ud83d"}]}\n'),
  Buffer.from(
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[-99.75,40.25]}}]}',
  ),
];
const JOBS = ['nightly-portfolio', 'real-estate-list', 'resume-after-quota', 'sample'].map((name) =>
  sample(`jobs/${name}.yaml`),
);

/** A true file in which bytes are others, gone, or twice there; now and then bytes that are nothing at all. */
function damaged(sources: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const sign = fc.constantFrom(
    '"',
    '\r',
    '\n',
    '\0',
    ',',
    '\ufeff',
    '&a *a',
    '{',
    '[',
    '<<: ',
    '!!js/x ',
    '1e999',
  );
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    sign.map((text) => Buffer.from(text)),
  );
  const change = fc.tuple(fc.nat(), fc.nat(40), piece);
  const bent = fc
    .tuple(fc.constantFrom(...sources), fc.array(change, { maxLength: 6 }))
    .map(([source, changes]) => {
      let bytes: Buffer = source;
      for (const [nth, gone, put] of changes) {
        const at = nth % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + gone)]);
      }
      return bytes;
    });
  const any = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof({ weight: 5, arbitrary: bent }, { weight: 1, arbitrary: any });
}

/** Whether it was taken; anything but our own error that says what is wrong is thrown on. */
async function isTaken(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof PerilbookError && error.code !== 'BUG') return false;
    throw error;
  }
}

/** Tries true files with other bytes: each must be taken, or refused with our own error. */
async function tryAll(
  t: TestContext,
  runs: number,
  sources: readonly Buffer[],
  work: (bytes: Buffer) => unknown,
) {
  let [trials, taken] = [0, 0];
  await fc.assert(
    fc.asyncProperty(damaged(sources), async (bytes) => {
      trials += 1;
      if (await isTaken(() => work(bytes))) taken += 1;
    }),
    { numRuns: runs * TIMES, timeout: LONGEST_MS },
  );
  t.diagnostic(`${trials} trials, ${taken} taken`);
  assert.ok(taken > 0 && taken < trials);
}

test('books of text with bytes that are not theirs: taken whole, or refused with a reason', async (t) => {
  const folder = temporaryFolder(t);
  const [file, output] = [join(folder, 'in'), join(folder, 'out')];
  await tryAll(t, 200, BOOKS, async (bytes) => {
    writeFileSync(file, bytes);
    const book = await openRowFile(file);
    let rows = 0;
    for await (const batch of book.read([...book.columns.keys()])) rows += batch.length;
    const written = await writeRows(book, {
      output,
      columns: [],
      dropFrom: null,
      added: [{ name: 'added', type: 'text' }],
      fill: async (batch) => batch.map(() => ['x']),
    });
    assert.equal(written.rows, rows, 'rows in, rows out');
    assert.ok(readFileSync(output).length > 0 || rows === 0);
  });
});

test('job files with bytes that are not theirs: each is made into a job, or refused with a reason', (t) =>
  tryAll(t, 300, JOBS, (bytes) =>
    makeJob([parseJobFile(bytes.toString(), 'job.yaml')], {
      dataFolder: '/data',
      workingFolder: '/work',
    }),
  ));
