import { crc32 } from 'node:zlib';
import { PerilbookError } from '../../base/errors.ts';
import type { BytePass } from '../../formats/bytes/byte-source.ts';
import { decompress } from './decompress.ts';
import {
  chunkRange,
  MOST_ROWS_A_GROUP,
  type ParquetFile,
  type RowGroup,
  readAt,
} from './footer.ts';
import { DATA_PAGE, DATA_PAGE_2, DICTIONARY_PAGE, ENCODINGS, PAGE, PAGE_KINDS } from './format.ts';
import type { SchemaNode } from './schema.ts';
import { Damage, readSize, readThrift, type ThriftStruct, TooShort } from './thrift.ts';

export interface Page {
  readonly isDictionary: boolean;
  /** How many values it has, nulls included. */
  readonly values: number;
  readonly encoding: number;
  /** Levels (unless they are separate) and values. */
  readonly body: Buffer;
  /** In pages of version 2 the levels come before the body, uncompressed. */
  readonly repetitionLevels: Buffer | null;
  readonly definitionLevels: Buffer | null;
}

const WINDOW_BYTES = 256 * 1024;
const LARGEST_HEADER = 16 * 1024 * 1024;
/** Old writers did not count the header of the dictionary in the size of a column. */
const SIZE_SLACK = 128;

export interface GroupReader {
  readonly file: ParquetFile;
  readonly pass: BytePass;
  readonly group: RowGroup;
}

/** Streams the pages of a column of a row group; memory is bounded by its largest page. */
export async function* pagesOf(
  { file, pass, group }: GroupReader,
  node: SchemaNode,
): AsyncGenerator<Page> {
  const range = chunkRange(file, group, node);
  const end = Math.min(range.end + SIZE_SLACK, file.bodyEnd);
  const window = windowOver(pass, end);
  let at = range.start;
  let left = range.values;
  for (let number = 1; left > 0; number++) {
    if (at >= end) throw new Damage('a column ends before its last page');
    const { header, size } = await readHeader(window, at, end);
    const packed = readSize(header, PAGE.size, 'the size of a page');
    if (packed > end - at - size) throw new Damage('a page would reach beyond its column');
    const bytes = await window(at + size, packed);
    at += size + packed;
    if (!matchesChecksum(header, bytes)) {
      throw wrongChecksum(
        file.input.name,
        node.name,
        `page ${number}`,
        file.rowGroups.indexOf(group) + 1,
      );
    }
    const page = pageFrom(header, bytes, range.codec, node);
    if (page === null) continue;
    if (!page.isDictionary) {
      if (page.values > left) throw new Damage('a column has more values than it states');
      if (page.values > MOST_ROWS_A_GROUP)
        throw new Damage(`a page has ${page.values} values, over ${MOST_ROWS_A_GROUP}`);
      left -= page.values;
    }
    yield page;
  }
}

type FileWindow = (position: number, length: number) => Promise<Buffer>;

/** Reads bytes of the file; one read serves small neighbouring pieces. */
function windowOver(pass: BytePass, end: number): FileWindow {
  let bytes: Buffer = Buffer.alloc(0);
  let start = 0;
  return async (position, length) => {
    if (position < start || position + length > start + bytes.length) {
      bytes = await readAt(
        pass,
        position,
        Math.min(Math.max(length, WINDOW_BYTES), end - position),
      );
      start = position;
    }
    return bytes.subarray(position - start, position - start + length);
  };
}

/** No length precedes a header, and statistics of long texts can make it large. */
async function readHeader(window: FileWindow, at: number, end: number) {
  for (let length = 1024; ; length *= 16) {
    const bytes = await window(at, Math.min(length, end - at));
    try {
      const { struct, end: size } = readThrift(bytes);
      return { header: struct, size };
    } catch (error) {
      if (!(error instanceof TooShort) || length >= LARGEST_HEADER || at + length >= end) {
        throw new Damage('a page has a damaged header');
      }
    }
  }
}

/** True for a page without a checksum. The checksum covers the packed bytes after the header. */
function matchesChecksum(header: ThriftStruct, bytes: Buffer): boolean {
  const expected = PAGE.checksum.read(header);
  return expected === undefined || crc32(bytes) === expected >>> 0;
}

function wrongChecksum(
  file: string,
  column: string,
  page: string,
  rowGroup: number,
): PerilbookError {
  const message = `${file} is damaged: ${page} of column ${column} in row group ${rowGroup} does not match its checksum`;
  return new PerilbookError('INPUT_UNREADABLE', message, 'Copy or download the file again.', {
    file,
    column,
  });
}

/** Null for index pages and unknown kinds of page: they hold no values. */
function pageFrom(
  header: ThriftStruct,
  bytes: Buffer,
  codec: number,
  node: SchemaNode,
): Page | null {
  const size = readSize(header, PAGE.unpackedSize, 'the unpacked size of a page');
  const values = 'the number of values of a page';
  const whole = (isDictionary: boolean, count: number, encoding = 0): Page => {
    const body = decompress(bytes, codec, size);
    return {
      isDictionary,
      values: count,
      encoding,
      body,
      repetitionLevels: null,
      definitionLevels: null,
    };
  };
  switch (PAGE.kind.read(header)) {
    case PAGE_KINDS.dictionary: {
      const detail = present(PAGE.dictionary.read(header));
      return whole(
        true,
        readSize(detail, DICTIONARY_PAGE.values, values),
        DICTIONARY_PAGE.encoding.read(detail),
      );
    }
    case PAGE_KINDS.data: {
      const { repetitions, definitions, encoding } = DATA_PAGE;
      const detail = present(PAGE.data.read(header));
      if (node.maxRepetition > 0) assertRuns(repetitions.read(detail));
      if (node.maxDefinition > 0) assertRuns(definitions.read(detail));
      return whole(false, readSize(detail, DATA_PAGE.values, values), encoding.read(detail));
    }
    case PAGE_KINDS.data2: {
      const detail = present(PAGE.data2.read(header));
      const definitions = readSize(
        detail,
        DATA_PAGE_2.definitionsSize,
        'the size of the levels of a page',
      );
      const repetitions = readSize(
        detail,
        DATA_PAGE_2.repetitionsSize,
        'the size of the levels of a page',
      );
      const levels = definitions + repetitions;
      if (levels > bytes.length || levels > size)
        throw new Damage('the levels of a page reach beyond it');
      const rest = bytes.subarray(levels);
      const isPacked = DATA_PAGE_2.isCompressed.read(detail) !== false && rest.length > 0;
      return {
        isDictionary: false,
        values: readSize(detail, DATA_PAGE_2.values, values),
        encoding: DATA_PAGE_2.encoding.read(detail) ?? 0,
        body: isPacked ? decompress(rest, codec, size - levels) : rest,
        repetitionLevels: bytes.subarray(0, repetitions),
        definitionLevels: bytes.subarray(repetitions, levels),
      };
    }
    default:
      return null;
  }
}

/** The levels in a page have one encoding in use; an older one is of the first years of the format. */
function assertRuns(encoding: number = ENCODINGS.runs): void {
  if (encoding === ENCODINGS.runs) return;
  throw new Damage(`it has levels in encoding ${encoding}, which Perilbook does not read`);
}

function present(detail: ThriftStruct | undefined): ThriftStruct {
  if (detail === undefined) throw new Damage('a page has a damaged header');
  return detail;
}
