import { joinStatement, placesStatement, type StatementOptions } from '../../warehouse/statements.ts';
import type { SqlFlags } from '../command-options.ts';
import { type CliContext, printData } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { anyJobOf } from '../job-of-options.ts';

/** `perilbook sql`: prints the two statements for the warehouse, or one of them for a pipe. */
export async function sqlCommand(context: CliContext, flags: SqlFlags): Promise<number> {
  const { topics, prefix, counts, precision, location } = anyJobOf(context, [], flags);
  const options: StatementOptions = {
    dialect: flags.dialect,
    table: flags.table ?? 'portfolio',
    lat: location.lat ?? 'lat',
    lng: location.lng ?? 'lng',
    isNumeric: flags.numeric === true,
    answers: flags.answers ?? 'answers',
    weight: flags.weight ?? null,
    topics,
    prefix,
    counts,
    precision,
  };
  const { only } = flags;
  if (only !== undefined) {
    printData(context, only === 'places' ? placesStatement(options) : joinStatement(options));
    return EXIT.complete;
  }
  printData(
    context,
    `-- 1. The distinct places of ${options.table}. Save them as CSV or Parquet and run: perilbook places FILE -o ANSWERS
${placesStatement(options)};

-- 2. ${options.table} with the columns that perilbook run adds. Load ANSWERS as the table ${options.answers} first.
${joinStatement(options)};`,
  );
  return EXIT.complete;
}
