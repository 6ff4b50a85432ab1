import { addedColumns, LEADING_COLUMNS } from '../columns/row.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { UNITS_PER_DEGREE } from '../geo/coordinates.ts';
import { LOCATION_NOTES, type LocationFinding } from '../geo/parse-location.ts';
import { HELPERS, type LocatedTable, locatedRows } from './located-rows.ts';
import { doubleConstant } from './rounding.ts';
import { columnName, dialectNamed, type SqlDialect, type SqlDialectName } from './sql-dialects.ts';

export interface StatementOptions extends LocatedTable {
  readonly dialect: SqlDialectName;
  /** A numeric column: a place weighs the sum of its rows' values instead of their number. */
  readonly weight: string | null;
  /** The table with the answers: the output of `perilbook places`, or an export of one source. */
  readonly answers: string;
  readonly topics: readonly TopicSlug[];
  readonly prefix: string;
  readonly counts: boolean;
}

/** The distinct places of a table, the input of `perilbook places`. */
export function placesStatement(options: StatementOptions): string {
  const dialect = dialectNamed(options.dialect);
  const { from } = locatedRows(options, dialect);
  const { lat7, lng7 } = HELPERS;
  const degrees = (key: string) => `CAST(${key} AS ${dialect.double}) / ${doubleConstant('1e7', dialect)}`;
  const weight =
    options.weight === null ? 'COUNT(*)' : `SUM(CAST(r.${columnName(options.weight, dialect)} AS ${dialect.double}))`;
  return `SELECT
  ${degrees(lat7)} AS lat,
  ${degrees(lng7)} AS lng,
  ${weight} AS weight
FROM ${from}
WHERE ${lat7} IS NOT NULL
GROUP BY ${lat7}, ${lng7}`;
}

/** The rows of a table with the columns that a run would add. */
export function joinStatement(options: StatementOptions): string {
  const dialect = dialectNamed(options.dialect);
  const { from, own } = locatedRows(options, dialect);
  const { finding, lat7, lng7 } = HELPERS;
  const plain = addedColumns(options.topics, '', options.counts).map(({ name }) => name);
  const [status, note] = LEADING_COLUMNS.map(({ name }) => name);
  const named = (name: string) => columnName(options.prefix + name, dialect);
  const rest = plain.slice(2).map((name) => `a.${name} AS ${named(name)}`);
  // The keys of the answers: their degrees have at most 7 decimals, so adding a half is exact enough.
  const keyOf = (degrees: string) =>
    `CAST(FLOOR(CAST(${degrees} AS ${dialect.double}) * ${doubleConstant(`${UNITS_PER_DEGREE}`, dialect)} + ${doubleConstant('5e-1', dialect)}) AS ${dialect.bigint})`;
  return `SELECT ${own},
  CASE
    WHEN a.${status} IS NOT NULL THEN a.${status}
    WHEN ${finding} IS NULL THEN 'deferred'
    WHEN ${finding} = 'outside_us' THEN 'outside_us'
    ELSE 'invalid'
  END AS ${named(status!)},
  CASE
    WHEN a.${status} IS NOT NULL THEN a.${note}
    ELSE ${noteCase(finding, dialect)}
  END AS ${named(note!)},
  ${rest.join(',\n  ')}
FROM ${from}
LEFT JOIN (
  SELECT answers.*,
    ${keyOf('answers.lat')} AS perilbook_answer_lat7,
    ${keyOf('answers.lng')} AS perilbook_answer_lng7
  FROM ${options.answers} AS answers
) AS a ON a.perilbook_answer_lat7 = ${lat7} AND a.perilbook_answer_lng7 = ${lng7}`;
}

/** The sentence of a row without an answer. */
function noteCase(finding: string, dialect: SqlDialect): string {
  const notes = Object.entries(LOCATION_NOTES) as [LocationFinding, string][];
  const sentences = notes.map(([name, sentence]) => `      WHEN '${name}' THEN ${dialect.string(sentence)}`);
  return `CASE COALESCE(${finding}, '')\n${sentences.join('\n')}\n      ELSE 'not bought yet'\n    END`;
}
