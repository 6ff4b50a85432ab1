import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import type { Forecast } from '../../run/plan/forecast.ts';
import type { Ways } from '../../run/plan/planning.ts';
import type { Prepared } from '../../run/prepare.ts';
import { byteSize, fittingTable, timeSpan } from './format.ts';

const WAY_NAMES: readonly (readonly [way: keyof Ways, name: string])[] = [
  ['cheapest', 'fewest credits'],
  ['fewest_calls', 'fewest calls'],
  ['standard', 'standard bundles'],
  ['enterprise', 'enterprise bundles'],
];

/** Columns to drop, in this order, on a narrow terminal. */
const DISPENSABLE = ['download', 'calls', 'time'];

/** The ways to buy; ways with the same figures share a line. */
export function waysToBuy({ job, plan, summary }: Prepared, width: number): string[] {
  const dollars = overdrawn(plan) !== null;
  const chosen: keyof Ways = job.optimize === 'calls' ? 'fewest_calls' : 'cheapest';
  // The names come last: there a long text continues below itself.
  const head = ['credits', ...(dollars ? ['overage'] : []), 'calls', 'download', 'time', 'complete in', 'way to buy'];
  const ways = WAY_NAMES.map(([way, name]) => {
    const { price, calls, bytes, forecast, overageDollars } = plan.ways[way];
    const { lacks } = summary.ways[way];
    const mark = lacks.length > 0 ? ` (without ${firstNames(lacks)})` : way === chosen ? ' (planned)' : '';
    const figures = [
      grouped(price.credits),
      ...(dollars ? [`$${overageDollars.toFixed(2)}`] : []),
      grouped(calls),
      byteSize(bytes),
      timeSpan(forecast.minutes),
      doneMessage(forecast),
    ];
    return { figures, name: name + mark };
  });
  const rows = [...Map.groupBy(ways, ({ figures }) => figures.join('\n')).values()].map((same) => [
    ...same[0]!.figures,
    same.map(({ name }) => name).join(', '),
  ]);
  const { calls } = summary;
  const parts = [
    calls.single > 0 ? counted(calls.single, 'single') : '',
    calls.standard > 0 ? `${grouped(calls.standard)} standard` : '',
    calls.enterprise > 0 ? `${grouped(calls.enterprise)} enterprise` : '',
  ].filter(Boolean);
  return [...fittingTable(head, rows, DISPENSABLE, '  ', width), `All places: ${parts.join(' + ') || 'no calls'}.`];
}

/** `hail`, `hail, park and drought`, `hail, park and 17 more` */
function firstNames(names: readonly string[]): string {
  const rest = names.length === 3 ? names[2]! : `${names.length - 2} more`;
  return names.length < 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${rest}`;
}

function doneMessage({ fits, periods, finishBy }: Forecast): string {
  if (fits) return 'this period';
  return finishBy === null ? 'never' : `${counted(periods!, 'period')}, ${dateTime(finishBy).slice(0, 10)}`;
}

/** The account whose job allows overage, or null. */
export function overdrawn({ account }: Prepared['plan']): JobAccount | null {
  return account !== null && account.account.overageCredits > 0 ? account.account : null;
}
