import { grouped } from '../../base/format-numbers.ts';
import { getBoundariesCommand } from '../../host/connection.ts';
import { isUnlimited } from '../../job/account-settings.ts';
import { DEFAULTS } from '../../job/setting-table.ts';
import { differsFrom } from '../../run/frame/account-state.ts';
import type { Prepared } from '../../run/prepare.ts';
import { listed } from './format.ts';
import { inputMessages, type OutputStyle } from './input-messages.ts';
import { besideText, localNotices, localSourceLines } from './local-messages.ts';
import { accountWords } from './plan-account.ts';
import { fewPlacesText, placeWords } from './plan-places.ts';
import { planVerdict } from './plan-verdict.ts';

/** The plan for people; the most important line comes first. */
export function planMessages(prepared: Prepared, folder: string, style: OutputStyle): string[] {
  const { summary, connection } = prepared;
  const { width } = style;
  const lines = inputMessages(prepared, folder, style, {
    verdict: planVerdict(prepared),
    isOneLine: false,
  });
  if (summary.cells === 0) return lines;
  const isLocal = connection.kind === 'local';
  const account = isLocal ? [] : accountWords(prepared);
  lines.push('', ...listed([...placeWords(prepared), ...account], '  ', width));
  if (isLocal) lines.push('', ...localSourceLines(prepared, folder, width));
  else
    lines.push(
      ...summary.scopes,
      ...otherTermsMessage(prepared),
      ...missingBoundariesMessage(prepared, folder),
      ...localSourceLines(prepared, folder, width),
    );
  return lines;
}

/** The plan of a run that begins now. A table is for who may spend: where nothing can be charged, the input stands in one line, with
 * what is missing or to be noticed; `plan` shows the rest. */
export function runPlanMessages(prepared: Prepared, folder: string, style: OutputStyle): string[] {
  const { job, plan, summary } = prepared;
  const isAsked = summary.credits > 0 || besideText(summary) !== '';
  const isPriced = isAsked || plan.price.unobtainable.size > 0;
  if (summary.cells > 0 && isPriced && !isFree(prepared))
    return planMessages(prepared, folder, style);
  const lines = inputMessages(prepared, folder, style, {
    verdict: planVerdict(prepared),
    isOneLine: true,
  });
  if (summary.cells === 0 || !isFree(prepared)) return lines;
  const notices = [
    ...localNotices(prepared, folder),
    ...(isPriced ? missingBoundariesMessage(prepared, folder) : []),
  ];
  if (plan.order.length > 0) {
    const few = fewPlacesText(summary.located, summary.cells);
    if (few !== null) notices.push(`${few}.`);
    if (job.isTopicsAssumed) notices.push(ASSUMED_TOPICS);
  }
  const isTabled = lines.includes('') && notices.length > 0;
  return [...lines, ...(isTabled ? [''] : []), ...notices];
}

const ASSUMED_TOPICS = `Topics: ${DEFAULTS.topics}, the default; others: --topics.`;

/** Whether nobody is charged, and no limit of the job shows what a paid service would do. */
export function isFree({ connection, job }: Pick<Prepared, 'connection' | 'job'>): boolean {
  return connection.kind === 'local' || (isUnlimited(job) && job.budget === null);
}

/** Where the job says otherwise than the account's last run, one of the two is wrong. */
function otherTermsMessage({ job: { account }, lastTerms }: Prepared): string[] {
  if (lastTerms === null || !differsFrom(account, lastTerms)) return [];
  const words = ({ subscription, anniversaryDay }: typeof lastTerms) =>
    `${subscription.name} (${grouped(subscription.creditsPerMonth)} credits, reset on day ${anniversaryDay})`;
  return [
    `This job says ${words(account)}; the last run of this account said ${words(lastTerms)}.`,
  ];
}

/** How to get the boundaries that some places lack. */
function missingBoundariesMessage({ job, plan }: Prepared, folder: string): string[] {
  const level = job.areas;
  if (level === null || (plan.scan.areaCounts?.no_boundaries ?? 0) === 0) return [];
  return [
    `To get the boundaries of the other states: ${getBoundariesCommand(level, job.input, folder)}`,
  ];
}
