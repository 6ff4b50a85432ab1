import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHUNK, CHUNK_META, DATA_PAGE_2, PAGE, PAGE_KINDS } from '../../src/rows/parquet/format.ts';
import { type GroupReader, type Page, pagesOf } from '../../src/rows/parquet/pages.ts';
import type { SchemaNode } from '../../src/rows/parquet/schema.ts';
import { makeStruct, writeThrift } from '../../src/rows/parquet/thrift.ts';
import { collected } from '../collected.ts';

const VALUES = 3;

interface MadePage {
  readonly definitions: number;
  readonly repetitions: number;
  /** What the header says of the page when it is unpacked. */
  readonly unpacked: number;
  readonly body: Buffer;
}

/** The pages of a column that is one page of version 2, not compressed. */
async function pagesWith({ definitions, repetitions, unpacked, body }: MadePage): Promise<Page[]> {
  const detail = makeStruct(
    DATA_PAGE_2.values.make(VALUES),
    DATA_PAGE_2.encoding.make(0),
    DATA_PAGE_2.definitionsSize.make(definitions),
    DATA_PAGE_2.repetitionsSize.make(repetitions),
  );
  const header = writeThrift(
    makeStruct(
      PAGE.kind.make(PAGE_KINDS.data2),
      PAGE.unpackedSize.make(unpacked),
      PAGE.size.make(body.length),
      PAGE.data2.make(detail),
    ),
  );
  const bytes = Buffer.concat([Buffer.from('PAR1'), header, body]);
  const meta = makeStruct(
    CHUNK_META.codec.make(0),
    CHUNK_META.values.make(VALUES),
    CHUNK_META.size.make(bytes.length - 4),
    CHUNK_META.dataStart.make(4),
  );
  const group = { rows: VALUES, chunks: [makeStruct(CHUNK.meta.make(meta))] };
  const pass = {
    readInto: async (buffer: Buffer, offset: number, position: number) =>
      bytes.copy(buffer, offset, position),
  };
  const reader = { file: { bodyEnd: bytes.length, rowGroups: [group] }, pass, group };
  const node = { name: 'lat', leaf: { index: 0 } } as SchemaNode;
  return collected(pagesOf(reader as unknown as GroupReader, node));
}

const body = Buffer.from('ddrvvvv');

test('the levels of a page of version 2 come before its values', async () => {
  const [page] = await pagesWith({ definitions: 2, repetitions: 1, unpacked: 7, body });
  assert.equal(page!.values, VALUES);
  assert.equal(String(page!.repetitionLevels), 'd');
  assert.equal(String(page!.definitionLevels), 'dr');
  assert.equal(String(page!.body), 'vvvv');
  // A page of nulls has levels alone.
  const [nulls] = await pagesWith({ definitions: 6, repetitions: 1, unpacked: 7, body });
  assert.equal(nulls!.body.length, 0);
});

test('levels that reach beyond their page are refused, by its size and by what it says of it', async () => {
  for (const made of [
    { definitions: 8, repetitions: 0, unpacked: 100, body },
    { definitions: 4, repetitions: 4, unpacked: 100, body },
    { definitions: 3, repetitions: 1, unpacked: 3, body },
  ])
    await assert.rejects(pagesWith(made), /the levels of a page reach beyond it/);
});
