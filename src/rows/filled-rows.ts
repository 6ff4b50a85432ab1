import { PerilbookError } from '../errors.ts';
import type { Row, WriteRequest } from './port.ts';

/** Asks for the fields of some rows, and checks that each row got its own. */
export async function filledRows(request: WriteRequest, rows: readonly Row[]) {
  const filled = await request.fill(rows);
  checkCount(rows.length, filled);
  return filled;
}

/** Throws unless each row was given its own. */
export function checkCount(rows: number, given: { readonly length: number }): void {
  if (given.length === rows) return;
  throw new PerilbookError('BUG', `${rows} rows were given ${given.length} answers`, 'Please report this.');
}
