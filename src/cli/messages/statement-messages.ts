import { grouped } from '../../format-numbers.ts';
import { plainCsv } from '../../rows/csv/plain-csv.ts';
import type { StatementBy, StatementRow } from '../../store/port.ts';
import { table } from './format.ts';

/** The rows as `--json` prints them. */
export function statementJson(by: StatementBy, rows: readonly StatementRow[]): unknown[] {
  return rows.map((row) => ({ ...firstOf(by, row), ...figuresOf(row) }));
}

/** The rows as `--csv` prints them: the same names as in JSON, nested ones joined. */
export function statementCsv(by: StatementBy, rows: readonly StatementRow[]): string {
  const head = by === 'run' ? ['run', 'job'] : [by];
  const figures = [
    ...['calls_charged', 'calls_free', 'calls_unknown', 'calls_in_flight'],
    ...['credits_charged', 'credits_unknown', 'credits_in_flight'],
  ];
  const lines = rows.map((row) => {
    const { calls, credits } = figuresOf(row);
    return [...Object.values(firstOf(by, row)), ...Object.values(calls), ...Object.values(credits)];
  });
  return plainCsv([...head, ...figures], lines);
}

/** The rows for people, with a total. */
export function statementMessages(by: StatementBy, rows: readonly StatementRow[]): string[] {
  if (rows.length === 0) return ['No calls in this period.'];
  const head = [
    ...(by === 'run' ? ['run', 'job'] : [by]),
    ...['charged', 'unknown', 'in flight', 'calls charged', 'free', 'unknown', 'in flight'],
  ];
  const numbers = ({ calls, credits }: Pick<StatementRow, 'calls' | 'credits'>) => [
    ...[credits.charged, credits.unknown, credits.inFlight],
    ...[calls.charged, calls.free, calls.unknown, calls.inFlight],
  ];
  const lines = rows.map((row) => [...Object.values(firstOf(by, row)).map(String), ...numbers(row).map(grouped)]);
  if (rows.length > 1) {
    const sums = rows.map(numbers).reduce((sum, row) => sum.map((value, index) => value + row[index]!));
    lines.push([...(by === 'run' ? ['', 'all'] : ['all']), ...sums.map(grouped)]);
  }
  return table(head, lines, '');
}

function firstOf(by: StatementBy, { name, job }: StatementRow): Record<string, string | number> {
  return by === 'run' ? { run: name, job: job ?? '' } : { [by]: name };
}

function figuresOf({ calls, credits }: StatementRow) {
  return {
    calls: { charged: calls.charged, free: calls.free, unknown: calls.unknown, in_flight: calls.inFlight },
    credits: { charged: credits.charged, unknown: credits.unknown, in_flight: credits.inFlight },
  };
}
