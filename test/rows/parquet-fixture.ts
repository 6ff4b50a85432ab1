import type { Field } from '../../src/contract/answer.ts';
import { readThrift, type ThriftStruct, writeThrift } from '../../src/rows/parquet/thrift.ts';
import type { AddedColumn } from '../../src/rows/port.ts';
import type { RowFill } from './book-fixture.ts';
import { askedDuckdb, quoted } from './duckdb-child.ts';

/** One added column of each type. */
export const ALL_TYPES: readonly AddedColumn[] = [
  { name: 'hazard_status', type: 'text' },
  { name: 'hazard_note', type: 'text' },
  { name: 'hazard_as_of', type: 'time' },
  { name: 'hail_score', type: 'number' },
  { name: 'hail_reports', type: 'count' },
];

export const hazardNames = ALL_TYPES.map(({ name }) => name).join(', ');

const FIELDS: readonly (readonly Field[])[] = [
  ['ok', null, '2026-05-01T10:20:30.400Z', 1.5, 3],
  ['partial', 'µ "x"', null, null, null],
];

/** Gives one row all fields and the next next to none. */
export const alternating: RowFill = async (rows) => rows.map(({ number }) => FIELDS[number % 2]!);

/** Has DuckDB write a Parquet file. */
export async function madeParquet(query: string, file: string, options = ''): Promise<void> {
  await askedDuckdb(
    `copy (${query}) to ${quoted(file)} (format parquet${options === '' ? '' : `, ${options}`})`,
  );
}

/** A file with its footer edited, and another body if one is given. */
export function withFooter(
  bytes: Buffer,
  edit: (footer: ThriftStruct) => void,
  body?: Buffer,
): Buffer {
  const bodyEnd = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const { struct: footer } = readThrift(bytes.subarray(bodyEnd, -8));
  edit(footer);
  const edited = writeThrift(footer);
  const end = Buffer.from('....PAR1');
  end.writeUInt32LE(edited.length);
  return Buffer.concat([body ?? bytes.subarray(0, bodyEnd), edited, end]);
}
