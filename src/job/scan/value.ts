import { PerilbookError } from '../../errors.ts';
import { didYouMean } from '../../nearest-name.ts';
import type { OrderBy } from '../settings/settings.ts';

/** OED's total insured values of a location, and AIR CEDE's names for them. Those present are summed. */
const TIV_COLUMNS = [
  'buildingtiv',
  'othertiv',
  'contentstiv',
  'bitiv',
  'buildingvalue',
  'othervalue',
  'contentsvalue',
  'timeelementvalue',
];

/** Other lists have the sum under this name. */
const TIV_ITSELF = 'tiv';

/** The columns whose sum is a row's value; none for `file`. @throws INPUT_COLUMNS */
export function valueColumns(names: readonly string[], orderBy: OrderBy, file: string): number[] {
  if (orderBy.kind === 'file') return [];
  if (orderBy.kind === 'column') {
    const index = names.findIndex((name) => name.toLowerCase() === orderBy.column.toLowerCase());
    if (index >= 0) return [index];
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `order_by: no column ${orderBy.column}${didYouMean(orderBy.column, names)}`,
      `The columns are: ${names.join(', ')}`,
      { file, column: orderBy.column },
    );
  }
  const found = names.flatMap((name, index) => (TIV_COLUMNS.includes(name.toLowerCase()) ? [index] : []));
  if (found.length > 0) return found;
  const sum = names.findIndex((name) => name.toLowerCase() === TIV_ITSELF);
  if (sum >= 0) return [sum];
  throw new PerilbookError(
    'INPUT_COLUMNS',
    'order_by tiv: no column BuildingTIV, OtherTIV, ContentsTIV, BITIV or TIV',
    'Name the value column: --order-by COLUMN, or order_by: {column: …} in the job file.',
    { file },
  );
}

/** The number in a text such as `1250000`, `1,250,000` or `$1,250,000.50`; empty is 0, anything else is null. */
export function parseValue(text: string): number | null {
  const plain = text.trim();
  if (plain === '') return 0;
  const digits = plain.replace(/^([-+]?)\s*\$\s*/, '$1');
  if (!/^[-+]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?(e[-+]?\d+)?$/i.test(digits) || !/\d/.test(digits)) return null;
  const value = Number(digits.replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}
