import { counted } from '../../base/format-numbers.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import type { Ways } from '../../run/plan/planning.ts';
import type { Prepared } from '../../run/prepare.ts';

const WAY_NAMES: readonly (readonly [way: keyof Ways, name: string])[] = [
  ['cheapest', 'fewest credits'],
  ['fewest_calls', 'fewest calls'],
  ['standard', 'standard bundles'],
  ['enterprise', 'enterprise bundles'],
];

/** A way that leaves out more topics than this answers another question. */
const MOST_LACKING = 3;

/** The cheapest other way to buy, where it is cheaper than the plan. All ways are in `--json`. */
export function otherWay({ plan, summary }: Prepared): (readonly [string, string])[] {
  const { planned } = plan.ways;
  const others = WAY_NAMES.map(([way, name]) => ({ name, ...plan.ways[way], lacks: summary.ways[way].lacks })).filter(
    ({ lacks }) => lacks.length <= MOST_LACKING,
  );
  const cheapest = others.toSorted((a, b) => a.price.credits - b.price.credits)[0];
  if (cheapest === undefined || cheapest.price.credits >= planned.price.credits) return [];
  const without = cheapest.lacks.length === 0 ? '' : ` (without ${firstNames(cheapest.lacks)})`;
  return [['cheaper', `${cheapest.name}, ${counted(cheapest.price.credits, 'credit')}${without}`]];
}

/** `hail`, `hail, park and drought`, `hail, park and 17 more` */
function firstNames(names: readonly string[]): string {
  const rest = names.length === 3 ? names[2]! : `${names.length - 2} more`;
  return names.length < 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${rest}`;
}

/** The account whose job allows overage, or null. */
export function overdrawn({ account }: Prepared['plan']): JobAccount | null {
  return account !== null && account.account.overageCredits > 0 ? account.account : null;
}
