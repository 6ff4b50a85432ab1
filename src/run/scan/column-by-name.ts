import { PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';

/** The column that a setting names: by its exact name, else without regard to case. @throws INPUT_COLUMNS */
export function columnByName(columns: readonly string[], name: string, setting: string, file: string): number {
  const exact = columns.indexOf(name);
  const index = exact >= 0 ? exact : columns.findIndex((column) => column.toLowerCase() === name.toLowerCase());
  if (index >= 0) return index;
  throw new PerilbookError(
    'INPUT_COLUMNS',
    `${setting}: no column ${name}${didYouMean(name, columns)}`,
    `The columns are: ${columns.join(', ')}`,
    { file, column: name },
  );
}
