import { locationFinding, numberOfColumn, numberOfText, plainText, textFinding } from './location-checks.ts';
import { keySql, scaledSql } from './rounding.ts';
import { columnName, type SqlDialect } from './sql-dialects.ts';

/** Which columns of which table hold the locations, and how they are rounded. */
export interface LocatedTable {
  /** The table, or what stands for one in its dialect. */
  readonly table: string;
  readonly lat: string;
  readonly lng: string;
  /** The columns hold numbers: their texts need no check. */
  readonly isNumeric: boolean;
  readonly precision: number;
}

interface HelperColumn {
  readonly name: string;
  readonly sql: string;
}

/** The helper columns that `locatedRows` adds. */
export const HELPERS = {
  finding: 'perilbook_finding',
  lat7: 'perilbook_lat7',
  lng7: 'perilbook_lng7',
} as const;

/** The rows of a table with their place: the integer key of latitude and longitude, or the finding. `own` selects the table's own
 * columns. */
export function locatedRows(
  located: LocatedTable,
  dialect: SqlDialect,
): { readonly from: string; readonly own: string } {
  const steps = located.isNumeric ? numericSteps(located, dialect) : textSteps(located, dialect);
  steps.push(
    axes((axis) => ({
      name: `perilbook_${axis}_scaled`,
      sql: `CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN ${scaledSql(`perilbook_${axis}`, located.precision, dialect)} END`,
    })),
    axes((axis) => ({
      name: `perilbook_${axis}7`,
      sql: keySql(`perilbook_${axis}_scaled`, located.precision, dialect),
    })),
  );
  return dialect.helpers === 'lateral' ? beside(located.table, steps, dialect) : nested(located.table, steps, dialect);
}

const axes = (make: (axis: 'lat' | 'lng') => HelperColumn): HelperColumn[] => [make('lat'), make('lng')];

function textSteps({ lat, lng }: LocatedTable, dialect: SqlDialect): HelperColumn[][] {
  const column = { lat: `r.${columnName(lat, dialect)}`, lng: `r.${columnName(lng, dialect)}` };
  return [
    axes((axis) => ({ name: `perilbook_${axis}_text`, sql: plainText(column[axis], dialect) })),
    axes((axis) => ({ name: `perilbook_${axis}`, sql: numberOfText(`perilbook_${axis}_text`, dialect) })),
    [findingColumn((axis) => textFinding(`perilbook_${axis}_text`, dialect))],
  ];
}

function numericSteps({ lat, lng }: LocatedTable, dialect: SqlDialect): HelperColumn[][] {
  const column = { lat: `r.${columnName(lat, dialect)}`, lng: `r.${columnName(lng, dialect)}` };
  return [
    axes((axis) => ({ name: `perilbook_${axis}`, sql: numberOfColumn(column[axis], dialect) })),
    [findingColumn((axis) => `CASE WHEN ${column[axis]} IS NULL THEN 'empty' ELSE 'not_a_number' END`)],
  ];
}

/** The latitude comes first, as in a run. */
function findingColumn(findingOf: (axis: 'lat' | 'lng') => string): HelperColumn {
  const sql = `CASE
      WHEN perilbook_lat IS NULL THEN ${findingOf('lat')}
      WHEN perilbook_lng IS NULL THEN ${findingOf('lng')}
      ${locationFinding('perilbook_lat', 'perilbook_lng')}
    END`;
  return { name: HELPERS.finding, sql };
}

const listOf = (columns: readonly HelperColumn[]) =>
  columns.map(({ name, sql }) => `${sql} AS ${name}`).join(',\n    ');

function beside(
  table: string,
  steps: readonly HelperColumn[][],
  { barrier }: SqlDialect,
): { from: string; own: string } {
  const end = barrier === undefined ? '' : `\n  ${barrier}`;
  const joins = steps.map(
    (columns, index) => `CROSS JOIN LATERAL (\n  SELECT\n    ${listOf(columns)}${end}\n) AS s${index + 1}`,
  );
  return { from: [`${table} AS r`, ...joins].join('\n'), own: 'r.*' };
}

function nested(
  table: string,
  steps: readonly HelperColumn[][],
  { helpers }: SqlDialect,
): { from: string; own: string } {
  const from = steps.reduce(
    (inner, columns) => `(\n  SELECT r.*,\n    ${listOf(columns)}\n  FROM ${inner}\n) AS r`,
    `${table} AS r`,
  );
  const names = steps.flat().map(({ name }) => name);
  return { from, own: `r.* ${helpers.toUpperCase()} (${names.join(', ')})` };
}
