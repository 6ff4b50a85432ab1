import { chunksFrom } from '../../formats/bytes/byte-source.ts';
import { type InputFile, openInput } from '../files/input-file.ts';
import { openOutput, writeWhole } from '../files/output-file.ts';
import { unpackedInput } from '../files/streamed-input.ts';
import type { RowFile, WriteRequest, WriteResult } from '../port.ts';

/** The format of a part without any bytes, which has no columns. */
export const EMPTY = 'empty';

/** A part without any bytes, compressed or not: writers of part files leave them. Null for any other file. */
export async function openEmptyPart(path: string, size: number): Promise<RowFile | null> {
  // Only a small file can be the compressed form of nothing.
  if (size > LARGEST_OF_NOTHING) return null;
  const input = await openInput(path);
  if ((await unpackedInput(input)).head.length > 0) return null;
  return {
    format: EMPTY,
    columns: [],
    async *read() {},
    write: (request) => copy(input, request),
  };
}

/** gzip's header may hold a file name. */
const LARGEST_OF_NOTHING = 4_096;

async function copy(input: InputFile, { output, signal }: WriteRequest): Promise<WriteResult> {
  const file = await openOutput(output, input.identity, undefined, signal);
  await writeWhole(file, signal, async () => {
    await using pass = await input.startPass();
    for await (const chunk of chunksFrom(pass, 0)) await file.write(chunk);
  });
  return { rows: 0, bytes: file.written() };
}
