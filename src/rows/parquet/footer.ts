import { PerilbookError } from '../../base/errors.ts';
import { type BytePass, readWhole } from '../../formats/bytes/byte-source.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import { CHUNK, CHUNK_META, FOOTER, ROW_GROUP } from './format.ts';
import { readSchema, type SchemaNode } from './schema.ts';
import { Damage, readSize, readThrift, type ThriftStruct } from './thrift.ts';

/** A Parquet file whose footer was read and checked against the file. */
export interface ParquetFile {
  readonly input: InputFile;
  /** The footer as in the file. */
  readonly footer: ThriftStruct;
  /** Where the footer begins; before it are pages and indexes. */
  readonly bodyEnd: number;
  readonly root: SchemaNode;
  readonly leaves: readonly SchemaNode[];
  readonly rowGroups: readonly RowGroup[];
  readonly rows: number;
}

export interface RowGroup {
  readonly rows: number;
  /** The column chunks, in the order of the leaves. */
  readonly chunks: readonly ThriftStruct[];
}

/** At the beginning and the end of each file. */
export const MAGIC = 'PAR1';
const TAIL_BYTES = 8;
/** The tree of a footer takes about ten times its bytes. */
const LARGEST_FOOTER = 64 * 1024 * 1024;
/** A row group is joined in memory, and a small page may be one value repeated many times. */
export const MOST_ROWS_A_GROUP = 16 * 1024 * 1024;

/** Reads the footer of a Parquet file and checks everything that is used later. @throws INPUT_UNREADABLE */
export async function openParquet(input: InputFile): Promise<ParquetFile> {
  await using pass = await input.startPass();
  return await orUnreadable(input.name, async () => {
    const { footer, bodyEnd } = await readFooter(input, pass);
    return describe(input, footer, bodyEnd);
  });
}

/** Runs a decoder of the file's bytes: any failure means that the file is damaged. */
export async function orUnreadable<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    const reason = error instanceof Damage ? error.message : 'its content is damaged';
    const hint = 'Write the file again, or export it as CSV.';
    throw unreadable(file, `cannot be read as Parquet: ${reason}`, hint, error);
  }
}

async function readFooter(
  input: InputFile,
  pass: BytePass,
): Promise<{ footer: ThriftStruct; bodyEnd: number }> {
  if (input.size < MAGIC.length + TAIL_BYTES) throw cutOffError(input.name);
  const tail = await readAt(pass, input.size - TAIL_BYTES, TAIL_BYTES);
  const magic = tail.toString('latin1', 4);
  if (magic === 'PARE') throw encryptedError(input.name);
  if (magic !== MAGIC) throw cutOffError(input.name);
  const length = tail.readUInt32LE(0);
  const bodyEnd = input.size - TAIL_BYTES - length;
  if (bodyEnd < MAGIC.length)
    throw new Damage(`its footer would be ${length} bytes, more than the file`);
  if (length > LARGEST_FOOTER)
    throw new Damage(`its footer of ${length} bytes is over ${LARGEST_FOOTER}`);
  const { struct: footer, end } = readThrift(await readAt(pass, bodyEnd, length));
  if (FOOTER.encryption.read(footer)) throw encryptedError(input.name);
  if (end !== length) throw new Damage('its footer is followed by other bytes');
  return { footer, bodyEnd };
}

/** Reads exactly `length` bytes. @param memory for them @throws Damage when the file ends before */
export async function readAt(
  pass: BytePass,
  position: number,
  length: number,
  memory: Buffer = Buffer.allocUnsafe(length),
): Promise<Buffer> {
  const bytes = memory.subarray(0, length);
  if (await readWhole(pass, bytes, position)) return bytes;
  throw new Damage('it ends too early');
}

function describe(input: InputFile, footer: ThriftStruct, bodyEnd: number): ParquetFile {
  const elements = FOOTER.schema.read(footer);
  if (!elements || elements.length === 0) throw new Damage('it has no schema');
  const { root, leaves } = readSchema(elements);
  const rowGroups = (FOOTER.rowGroups.read(footer) ?? []).map((group): RowGroup => {
    const rows = readSize(group, ROW_GROUP.rows, 'the number of rows of a row group');
    if (rows > MOST_ROWS_A_GROUP)
      throw new Damage(`a row group has ${rows} rows, over ${MOST_ROWS_A_GROUP}`);
    const chunks = ROW_GROUP.chunks.read(group) ?? [];
    if (chunks.length !== leaves.length) {
      throw new Damage(
        `a row group has ${chunks.length} columns where the schema has ${leaves.length}`,
      );
    }
    return { rows, chunks };
  });
  const promised = readSize(footer, FOOTER.rows, 'the number of rows');
  const rows = rowGroups.reduce((sum, group) => sum + group.rows, 0);
  // Some writers leave the total at 0; every reader counts the row groups.
  if (promised !== rows && promised !== 0) {
    throw new Damage(`it states ${promised} rows, and its row groups have ${rows}`);
  }
  const file = { input, footer, bodyEnd, root, leaves, rowGroups, rows };
  for (const group of rowGroups) for (const leaf of leaves) checkChunk(file, group, leaf);
  return file;
}

function checkChunk(file: ParquetFile, group: RowGroup, node: SchemaNode): void {
  const chunk = group.chunks[node.leaf!.index]!;
  if (CHUNK.encryption.read(chunk)) throw encryptedError(file.input.name);
  const otherFile = CHUNK.otherFile.read(chunk);
  if (otherFile) throw new Damage(`column ${node.name} lies in another file (${otherFile})`);
  const { values } = chunkRange(file, group, node);
  if (node.maxRepetition === 0 && values !== group.rows) {
    throw new Damage(
      `column ${node.name} has ${values} values in a row group of ${group.rows} rows`,
    );
  }
}

/** The position of a column chunk, checked to be inside the file. @throws Damage */
/** Where the pages of a column are, and how they are packed. */
interface ChunkRange {
  readonly start: number;
  readonly end: number;
  readonly values: number;
  readonly codec: number;
}

/** Where the bytes of a column chunk lie, with its dictionary. @throws Damage where they would lie outside of the file's data */
export function chunkRange(file: ParquetFile, group: RowGroup, node: SchemaNode): ChunkRange {
  const meta = CHUNK.meta.read(group.chunks[node.leaf!.index]!);
  if (!meta) throw new Damage(`column ${node.name} has no description`);
  const values = readSize(meta, CHUNK_META.values, `the number of values of column ${node.name}`);
  const size = readSize(meta, CHUNK_META.size, `the size of column ${node.name}`);
  const dataStart = readSize(meta, CHUNK_META.dataStart, `the position of column ${node.name}`);
  // Some writers give position 0 for a missing dictionary.
  const dictionaryStart = CHUNK_META.dictionaryStart.read(meta) || dataStart;
  const start = Math.min(dataStart, dictionaryStart);
  const codec = CHUNK_META.codec.read(meta) ?? 0;
  if (values === 0 || size === 0) return { start: 0, end: 0, values, codec };
  if (start < MAGIC.length || start + size > file.bodyEnd) {
    throw new Damage(
      `column ${node.name} would be outside the file (bytes ${start} to ${start + size})`,
    );
  }
  return { start, end: start + size, values, codec };
}

function encryptedError(file: string): PerilbookError {
  const hint = 'Decrypt it with the program that wrote it, and give Perilbook the plain file.';
  return unreadable(file, 'is encrypted', hint);
}

function cutOffError(file: string): PerilbookError {
  const hint = 'Copy or download it again: the end of the file is missing.';
  return unreadable(file, 'is a Parquet file that was cut off', hint);
}
