import type { PerilbookError } from '../../base/errors.ts';
import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { isFreeSource } from '../../host/connection.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import type { JobFile } from '../../job/job-file.ts';
import { accountState, withLastTerms } from '../../run/frame/account-state.ts';
import type { Store } from '../../store/port.ts';
import { type CliContext, print, printData, say, sayJson } from '../frame/context.ts';
import { readOptionalJob, settingsWithoutJobFile } from '../frame/job-of-options.ts';
import { openExistingStore } from '../frame/open-store.ts';
import type { QuotaCommandJson } from '../json/ledger-json.ts';
import { servicePriceMessages, servicePricesJson } from '../messages/price-messages.ts';
import {
  type Quota,
  quotaJson,
  quotaMessages,
  statementCsv,
  statementJson,
  statementMessages,
} from '../messages/quota-messages.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';

/** `perilbook quota [JOB]` prints the billing period by the ledger, as the service has no endpoint for it; with `--by` also a statement.
 * `perilbook quota set` corrects the period by the figure on the provider's page. */
export const quotaCommands = { quota: quotaCommand(false), 'quota set': quotaCommand(true) };

function quotaCommand(isSet: boolean): RunCommand<Flags<'quota set'>> {
  return async (context, flags, words) => {
    const by = flags.by ?? (flags.csv ? 'run' : null);
    await using store = await openExistingStore(
      context,
      readOptionalJob(context, words, flags),
      flags,
      isSet ? 'makes' : 'reads',
    );
    const now = context.clock.now();
    const accounts = await chosenAccounts(context, words, flags, store);
    if (accounts.length === 0 && (isSet || flags.csv)) throw noAccount();
    if (accounts.length > 1 && (isSet || flags.csv)) {
      const names = accounts.map(({ name }) => name).join(', ');
      const message = `${isSet ? 'quota set' : '--csv'} needs one account, but this store has ${names}`;
      throw usageError(message, 'Choose one: --account NAME.');
    }
    if (isSet)
      await recordCorrection(context, store, accounts[0]!, spentAtProvider(accounts[0]!, flags));
    const sheets = [];
    for (const { hasSubscription, ...account } of accounts) {
      const state = await accountState(account, store, now);
      const rows = await store.statement({
        by: by ?? 'key',
        account: account.name,
        period: state.period,
      });
      const quota: Quota = {
        state,
        hasSubscription,
        freeCalls: rows.reduce((sum, { calls }) => sum + calls.free, 0),
      };
      sheets.push({ quota, rows });
    }
    // Nobody charges those of the sample.
    const services = (await store.allChargedPrices()).filter(({ source }) => !isFreeSource(source));
    if (flags.csv) printData(context, statementCsv(by!, sheets[0]!.rows).trimEnd());
    else if (flags.json) {
      const values = sheets.map(({ quota, rows }) => ({
        ...quotaJson(quota),
        ...(by ? { by, statement: statementJson(by, rows) } : {}),
      }));
      const prices = servicePricesJson(services);
      const [only] = values;
      const value: QuotaCommandJson =
        values.length === 1 ? { ...only!, prices } : { accounts: values, prices };
      sayJson(context, value);
    } else {
      const blocks = sheets.map(({ quota, rows }) =>
        [...quotaMessages(quota), ...(by ? ['', ...statementMessages(by, rows)] : [])].join('\n'),
      );
      if (blocks.length === 0) blocks.push(`${noAccount().message}.`);
      const prices = servicePriceMessages(services);
      print(context, [...blocks, ...(prices.length === 0 ? [] : [prices.join('\n')])].join('\n\n'));
    }
  };
}

/** `hasSubscription`: a job, a flag or the last run names the subscription. */
interface ChosenAccount extends JobAccount {
  readonly hasSubscription: boolean;
}

/** The account of the job, or the one that is named. Without both: the accounts of the store's runs, with the settings of the last run. */
async function chosenAccounts(
  context: CliContext,
  words: readonly string[],
  flags: Flags<'quota set'>,
  store: Store,
) {
  const settings = settingsWithoutJobFile(context, words, flags);
  const job = readOptionalJob(context, words, flags);
  if (settings === null)
    return [{ ...(await withLastTerms(job, store)).job.account, hasSubscription: true }];
  const ledgerAccounts = await store.ledgerAccounts();
  const own = job.account;
  const isChosen =
    settings.account !== undefined ||
    settings.service !== undefined ||
    settings.subscription !== undefined;
  if (!isChosen)
    return ledgerAccounts.map((account) => ({
      ...withSettings(account, settings, own),
      hasSubscription: true,
    }));
  const before = ledgerAccounts.find(({ name }) => name === own.name);
  if (before !== undefined)
    return [{ ...withSettings(before, settings, own), hasSubscription: true }];
  return [{ ...own, hasSubscription: settings.subscription !== undefined }];
}

/** The settings of the last run, overridden by those of this command line. */
function withSettings(account: JobAccount, settings: JobFile, own: JobAccount): JobAccount {
  return {
    ...account,
    isAssumed: (settings.subscription === undefined ? account : own).isAssumed,
    subscription: (settings.subscription === undefined ? account : own).subscription,
    anniversaryDay: (settings.anniversary_day === undefined ? account : own).anniversaryDay,
    isDayAssumed: (settings.anniversary_day === undefined ? account : own).isDayAssumed,
    reserve: (settings.reserve === undefined ? account : own).reserve,
    overageCredits: (settings.overages === undefined ? account : own).overageCredits,
  };
}

function noAccount(): PerilbookError {
  const hint = 'Name one: --account NAME or --base-url ADDRESS, with --subscription.';
  return usageError(
    'No run has used an account with a quota: local data and the sample have none',
    hint,
  );
}

async function recordCorrection(
  context: CliContext,
  store: Store,
  account: ChosenAccount,
  spent: number,
) {
  const { period } = await accountState(account, store, context.clock.now());
  await store.correct(account.name, period, spent);
  const { name, creditsPerMonth } = account.subscription;
  const left = Math.max(0, creditsPerMonth - spent);
  const counts = `${counted(Math.max(0, spent), 'credit')} spent${account.hasSubscription ? `, ${grouped(left)} left` : ''}`;
  say(context, `Recorded for ${account.name}, period until ${dateTime(period.end)}: ${counts}.`);
  if (left <= creditsPerMonth) return;
  const raised = `That is more than the ${grouped(creditsPerMonth)} of ${name}, and holds for this period`;
  say(
    context,
    `${raised}. If the quota was raised for good: subscription: {credits_per_month: …} in the job.`,
  );
}

/** Credits that the provider has counted in this period: `--spent`, or the allowance less `--left`. */
function spentAtProvider(
  { subscription, name: account, hasSubscription }: ChosenAccount,
  { left, spent }: Flags<'quota set'>,
): number {
  const value = left ?? spent;
  if (value === undefined || (left !== undefined && spent !== undefined)) {
    const hint = "Copy the figure from the provider's page: perilbook quota set JOB --left 4200.";
    throw usageError('quota set needs either --left or --spent', hint);
  }
  const allowance = subscription.creditsPerMonth;
  if (left !== undefined && !hasSubscription) {
    const hint = 'Give its job or --subscription, or use --spent.';
    throw usageError(`--left needs the allowance of ${account}, which is unknown`, hint);
  }
  return left === undefined ? value : allowance - left;
}
