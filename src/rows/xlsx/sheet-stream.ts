import { PerilbookError } from '../../errors.ts';
import type { InputFile } from '../files/input-file.ts';
import { type SheetListener, type SheetRow, sheetParser } from './sheet-parser.ts';
import type { Workbook } from './workbook.ts';
import { damaged, unpackedPart } from './zip-reader.ts';

/** A piece of a sheet's XML, and the rows that end in it. */
export interface SheetPiece {
  readonly text: string;
  readonly rows: readonly SheetRow[];
  /** Where the row begins whose end is still to come; null where none is open. */
  readonly openRow: number | null;
}

/** Streams the XML of the sheet in pieces of some 128 KiB. Memory is bounded by the longest row. */
export async function* sheetPieces(
  input: InputFile,
  { sheet, sheetName }: Workbook,
  onDimension?: SheetListener['dimension'],
): AsyncGenerator<SheetPiece, void, void> {
  let rows: SheetRow[] = [];
  const parser = sheetParser({
    row: (row) => rows.push(row),
    ...(onDimension ? { dimension: onDimension } : {}),
  });
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const parsed = (text: string, isLast: boolean): SheetPiece => {
    rows = [];
    try {
      parser.write(text);
      if (isLast) parser.close();
    } catch (error) {
      throw asDamaged(input.name, sheetName, error);
    }
    return { text, rows, openRow: parser.openRow() };
  };
  for await (const chunk of unpackedPart(input, sheet)) {
    yield parsed(decoded(decoder, chunk, input.name, sheetName), false);
  }
  yield parsed(decoded(decoder, undefined, input.name, sheetName), true);
}

function decoded(
  decoder: InstanceType<typeof TextDecoder>,
  chunk: Buffer | undefined,
  file: string,
  sheet: string,
): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch (error) {
    throw damaged(file, `the sheet "${sheet}" is not in UTF-8`, error);
  }
}

function asDamaged(file: string, sheet: string, error: unknown): PerilbookError {
  if (error instanceof PerilbookError) return error;
  return damaged(
    file,
    `the sheet "${sheet}" cannot be read (${error instanceof Error ? error.message : error})`,
    error,
  );
}
