import { PerilbookError } from '../errors.ts';
import type { RowFields, WriteRequest } from './port.ts';

/** Asks for the fields of the next rows. @throws BUG unless each row gets its own */
export async function filledRows({ fill }: WriteRequest, count: number): Promise<readonly RowFields[]> {
  const filled = count === 0 ? [] : await fill(count);
  if (filled.length === count) return filled;
  throw new PerilbookError('BUG', `${count} rows were given the fields of ${filled.length}`, 'Please report this.');
}

/** The fields of a row. @throws BUG unless there is one for each added column */
export function fieldsFor({ added }: Pick<WriteRequest, 'added'>, make: RowFields): ReturnType<RowFields> {
  const fields = make();
  if (fields.length === added.length) return fields;
  const message = `A row was given ${fields.length} fields for ${added.length} columns`;
  throw new PerilbookError('BUG', message, 'Please report this.');
}
