import { counted, grouped } from '../../format-numbers.ts';
import { hasTooManyInvalid, unusableRows } from '../../run/invalid-rows.ts';
import { LOOKED_UP_FINDINGS } from '../../run/scan/scan-input.ts';
import type { PlanSummary } from '../../run/summary.ts';
import { percent } from './format.ts';

/** Printed if more rows have no usable location than the job allows. */
export function invalidRowsMessage(summary: PlanSummary): string[] {
  if (!hasTooManyInvalid(summary)) return [];
  const { rows, located, findings, unit } = summary;
  const unusable = unusableRows(summary);
  const counts = ({ finding }: PlanSummary['findings'][number]) =>
    !LOOKED_UP_FINDINGS.some((name) => name === finding) && (located === 0 || finding !== 'outside_us');
  const reasons = findings.filter(counts);
  const most = reasons.reduce((a, b) => (b.rows > a.rows ? b : a));
  const what = `${grouped(unusable)} of ${counted(rows, 'row')} (${percent(unusable / rows)}) cannot be looked up`;
  const how = 2 * most.rows > unusable ? 'mostly' : `${counted(reasons.length, 'reason')}, for example`;
  const why = `${how}: ${most.note.replace(/\.$/, '')} (first: ${unit} ${most.first_line}${most.part === undefined ? '' : ` of ${most.part}`})`;
  return [
    `${what}; ${why}. Check the columns (--lat, --lng), or allow it: --max-invalid ${Math.ceil((100 * unusable) / rows)}%.`,
  ];
}
