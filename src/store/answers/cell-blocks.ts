import type { Cell } from '../../geo/coordinates.ts';
import { read, type SqlDatabase, type SqlWork, statement } from '../../sql/sql-work.ts';
import type { CellLists } from './port.ts';

/** Cells of one block: 250 kB with 18 natural topics. */
const CELLS_A_BLOCK = 1_000;

/** The stored rows of many cells as one value for each column: making a value of each took most of the time of a plan. */
interface CellBlock {
  /** The answers of all cells, one after the other, and `SPARE_BYTES` more; null without a cell. */
  readonly answers: Buffer | null;
  /** The others as JSON lists; null in each for a cell that was asked for and is not there. */
  readonly lats: string;
  readonly lngs: string;
  readonly lengths: string;
  readonly checksums: string;
  /** Null: no cell has failures. */
  readonly failures: string | null;
}

interface RangeBlock extends CellBlock {
  /** The highest number of a cell of the block. */
  readonly last: number | null;
}

/** The cells of a block that has some. */
interface RangeLists extends CellLists {
  /** The highest number of a cell. */
  readonly last: number;
}

/** The columns of a block, over a table with those of `cells`. Spare bytes follow the answers. */
const COLUMNS: Readonly<Record<SqlDatabase['dialect']['engine'], string>> = {
  sqlite: `CAST(group_concat(answers, '') || '    ' AS BLOB) AS answers,
    json_group_array(lat7) AS lats, json_group_array(lng7) AS lngs, json_group_array(length(answers)) AS lengths,
    json_group_array(checksum) AS checksums, CASE WHEN count(failures) > 0 THEN json_group_array(failures) END AS failures`,
  postgres: `string_agg(answers, ''::bytea) || '    '::bytea AS answers,
    json_agg(lat7)::text AS lats, json_agg(lng7)::text AS lngs, json_agg(length(answers))::text AS lengths,
    json_agg(checksum)::text AS checksums, CASE WHEN count(failures) > 0 THEN json_agg(failures)::text END AS failures`,
};

/** The next cells of a source after a number, up to another; null after the last one. */
export function* rangeBlock(
  { dialect }: Pick<SqlDatabase, 'dialect'>,
  source: number,
  after: number,
  to: number,
): SqlWork<RangeLists | null> {
  const [[block]] = yield* read(
    statement<RangeBlock>(
      // Source + 0: without the index by source, whose rows would be sorted for each block.
      `SELECT max(id) AS last, ${COLUMNS[dialect.engine]}
       FROM (SELECT id, lat7, lng7, answers, failures, checksum FROM cells
         WHERE source + 0 = $1 AND id > $2 AND id <= $3 ORDER BY id LIMIT ${CELLS_A_BLOCK}) AS page`,
      [source, after, to],
    ),
  );
  const { last } = block!;
  return last === null ? null : { ...listsOf(block!), last };
}

function listsOf({ answers, lats, lngs, lengths, checksums, failures }: CellBlock): CellLists {
  const listOf = <T>(json: string) => JSON.parse(json) as readonly (T | null)[];
  return {
    answers: answers ?? Buffer.alloc(0),
    lats: listOf<number>(lats),
    lngs: listOf<number>(lngs),
    lengths: listOf<number>(lengths),
    checksums: listOf<number>(checksums),
    failures: failures === null ? null : listOf<string>(failures),
  };
}

/** Cells by their place. SQLite reads a JSON object with one latitude and longitude per member (its names may repeat) in two thirds of
 * the time of an array of pairs; PostgreSQL reads two arrays. LEFT JOIN, because the planner may reverse a JOIN and read all cells. */
export function* askedBlock(
  { dialect }: Pick<SqlDatabase, 'dialect'>,
  source: number,
  cells: readonly Cell[],
): SqlWork<CellLists> {
  const isSqlite = dialect.engine === 'sqlite';
  const asked = isSqlite
    ? 'json_each($1) AS asked LEFT JOIN cells ON source = $2 AND lat7 = asked.key AND lng7 = asked.value'
    : `unnest($1::integer[], $2::integer[]) AS asked (lat, lng)
       LEFT JOIN cells ON cells.source = $3 AND cells.lat7 = asked.lat AND cells.lng7 = asked.lng`;
  const values = isSqlite
    ? [`{${cells.map(({ lat7, lng7 }) => `"${lat7}":${lng7}`).join(',')}}`, source]
    : [
        `{${cells.map(({ lat7 }) => lat7).join(',')}}`,
        `{${cells.map(({ lng7 }) => lng7).join(',')}}`,
        source,
      ];
  const [[block]] = yield* read(
    statement<CellBlock>(`SELECT ${COLUMNS[dialect.engine]} FROM ${asked}`, values),
  );
  return listsOf(block!);
}
