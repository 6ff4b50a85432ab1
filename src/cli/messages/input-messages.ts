import { join } from 'node:path';
import { counted, grouped, percent } from '../../base/format-numbers.ts';
import { firstRows } from '../../rows/location/file-head.ts';
import { POINTS_HINT } from '../../rows/location/named-columns.ts';
import { NO_LOCATION_NOTES } from '../../rows/no-locations.ts';
import { refusedWayText } from '../../run/plan/approval.ts';
import type { Prepared } from '../../run/prepare.ts';
import { OPTION_SUGGESTION } from '../../run/scan/read-row.ts';
import { LOOKED_UP_FINDINGS, OF_THE_FIRST } from '../../run/scan/scan-tally.ts';
import type { PlanSummary } from '../../run/summary-shapes.ts';
import { countedRows, hasTooManyInvalid, unusableRows } from '../options/exit-codes.ts';
import { type Color, shownPath, table } from './format.ts';

export interface OutputStyle {
  /** Columns of the terminal; infinite where the output is no terminal. */
  readonly width: number;
  readonly color: Color;
}

/** The input and its use in one or two lines; then the problems of its rows.
 * @param verdict one line: what the run will do */
export function inputMessages(
  prepared: Prepared,
  folder: string,
  { width, color }: OutputStyle,
  { verdict, isOneLine }: { readonly verdict: string; readonly isOneLine: boolean },
): string[] {
  const { job, plan, summary, connection } = prepared;
  const lines: string[] = [];
  if (plan.refusedWay !== null)
    lines.push(color('bold', refusedWayText(plan.refusedWay, summary.credits)));
  if (connection.sample) {
    lines.push(SAMPLE_DATA);
  } else if (summary.sample_data)
    lines.push(
      'The service last answered with sample data, which is made up: do not base decisions on it.',
    );
  const parts = summary.parts === null ? '' : `${counted(summary.parts.total, 'part')}, `;
  const rows = `${shownPath(job.input, folder)}: ${parts}${rowsMessage(summary)}`;
  const first = color('bold', verdict);
  lines.push(...(isOneLine ? [`${rows}. ${first}`] : [rows, first]));
  const invalid = invalidRowsMessage(summary);
  lines.push(...invalid.map((line) => color('bold', line)));
  lines.push(...plan.scan.layout.notes);
  const isLookedUp = ({ finding }: UnusableKind) =>
    LOOKED_UP_FINDINGS.some((name) => name === finding);
  const findings = Map.groupBy(summary.findings, isLookedUp);
  const { unit = 'line' } = plan.scan.rowFile;
  /** The line of the first row, with the name of its part file. */
  const lineOf = ({ part, first_line }: UnusableKind) =>
    part === undefined
      ? `${first_line}`
      : `${shownPath(join(job.parts!.folder, part), folder)}:${first_line}`;
  const findingLines = (heading: string, found: readonly UnusableKind[]): string[] => {
    const cells = found.map((finding) => [lineOf(finding), grouped(finding.rows), finding.note]);
    const head = ['', `${heading} (with the first ${unit}):`];
    return found.length === 0
      ? []
      : [...head, ...table([unit, 'rows', 'reason'], cells, '  ', width)];
  };
  const unusable = findings.get(false) ?? [];
  // A single reason is in the message about invalid rows already.
  const isTold = unusable.length === 1 && invalid.length > 0;
  lines.push(...findingLines('Rows that cannot be looked up', isTold ? [] : unusable));
  lines.push(...findingLines('Rows to check', findings.get(true) ?? []));
  return lines;
}

/** Printed wherever answers of the embedded service are shown. */
export const SAMPLE_DATA =
  'Sample data from the embedded service: made up, do not base decisions on it.';

type UnusableKind = Prepared['summary']['findings'][number];

function rowsMessage({ rows, located, invalid, outside_us }: Prepared['summary']): string {
  const rest = [
    invalid > 0 ? `${grouped(invalid)} invalid` : '',
    outside_us > 0 ? `${grouped(outside_us)} outside the US` : '',
  ];
  return `${counted(rows, 'row')}, ${[`${grouped(located)} located`, ...rest].filter(Boolean).join(', ')}`;
}

/** What to do about rows that cannot be read. */
const WAYS_OUT = { line: 'Correct these lines', row: 'Correct these rows', feature: POINTS_HINT };

/** Printed if most rows lie outside the US, or more have no usable location than the job allows. */
export function invalidRowsMessage(summary: PlanSummary): string[] {
  const { rows, located, findings, unit } = summary;
  const box = summary.outside_us_box;
  if (2 * summary.outside_us > rows && box !== null) {
    const degrees = (exact: number) => Math.round(10 * exact) / 10;
    const span = (from: number, to: number) =>
      [...new Set([degrees(from), degrees(to)])].join(' to ');
    const where = `latitude ${span(box.south, box.north)}, longitude ${span(box.west, box.east)}`;
    return [
      `${grouped(summary.outside_us)} of ${counted(rows, 'row')} ${summary.outside_us === 1 ? 'lies' : 'lie'} outside the US: ${where}. Perilbook answers for the US alone; longitudes there are negative.`,
    ];
  }
  if (!hasTooManyInvalid(summary)) return [];
  const unusable = unusableRows(summary);
  const counts = ({ finding }: PlanSummary['findings'][number]) =>
    !LOOKED_UP_FINDINGS.some((name) => name === finding) &&
    (located === 0 || !(finding in NO_LOCATION_NOTES)) &&
    (located === 0 || finding !== 'outside_us');
  const reasons = findings.filter(counts);
  const most = reasons.reduce((a, b) => (b.rows > a.rows ? b : a));
  const what = `${grouped(unusable)} of ${counted(countedRows(summary), 'row')} (${percent(unusable / countedRows(summary))}) cannot be looked up`;
  const how =
    2 * most.rows > unusable ? 'mostly' : `${counted(reasons.length, 'reason')}, for example`;
  const why = `${how}: ${most.note.replace(OF_THE_FIRST, '').replace(OPTION_SUGGESTION, '').replace(/\.$/, '')} (first: ${unit} ${most.first_line}${most.part === undefined ? '' : ` of ${most.part}`})`;
  const option = summary.columns.lat === summary.columns.lng ? '--location' : '--lat, --lng';
  const isOfColumns = most.finding !== 'unreadable' && most.finding !== 'too_many_fields';
  const [, added] = OPTION_SUGGESTION.exec(most.note) ?? [];
  const setting = added?.startsWith('--coordinates') ? 'coordinates:' : 'location: {order: …}';
  const columns =
    added === undefined
      ? `Check the columns (${option})`
      : `Add ${added} (${setting} in the job file)`;
  const way = isOfColumns ? columns : WAYS_OUT[unit];
  const allow =
    located === 0
      ? ''
      : `, or allow it: --max-invalid ${Math.ceil((100 * unusable) / countedRows(summary))}%`;
  return [`${what}; ${why}. ${way}${allow}.`];
}

const ROWS_SHOWN = 3;
/** The location columns, and some that tell which rows these are. */
const COLUMNS_SHOWN = 5;
const LONGEST_FIELD = 24;

/** The first rows of an input of which no row can be looked up, so that its user sees what Perilbook reads; else none. */
export async function firstRowMessages(
  { plan: { scan }, summary }: Prepared,
  width: number,
): Promise<string[]> {
  if (summary.cells > 0 || summary.rows === 0) return [];
  const { rowFile, layout } = scan;
  const used = new Set(
    [layout.used.lat, layout.used.lng].map((name) => rowFile.columns.indexOf(name)),
  );
  const others = rowFile.columns.map((_, index) => index).filter((index) => !used.has(index));
  const shown = [...used, ...others].filter((index) => index >= 0).slice(0, COLUMNS_SHOWN);
  const rows = (await firstRows(rowFile, shown, ROWS_SHOWN)).map(({ line, fields }) => [
    String(line),
    ...fields.map((text) => text.slice(0, LONGEST_FIELD) || '(empty)'),
  ]);
  const head = [
    rowFile.unit ?? 'line',
    ...shown.map((index) => rowFile.columns[index]!.slice(0, LONGEST_FIELD)),
  ];
  return ['', 'The first rows:', ...table(head, rows, '  ', width)];
}
