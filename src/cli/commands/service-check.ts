import { resolve } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { createClient, requireSendable } from '../../client/client.ts';
import type { Exchange } from '../../client/exchange.ts';
import { cleanText, makeRedactor } from '../../client/redact.ts';
import { sourceName } from '../../contract/service-address.ts';
import { distanceMeters } from '../../geo/coordinates.ts';
import { exposedKeyFiles, refuseKeyInNames, unencryptedKeys } from '../../host/connection.ts';
import type { KeySource } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import { proxyFor, proxyNotice } from '../../net/http-proxy.ts';
import { type Key, readKeys } from '../../run/frame/api-keys.ts';
import { ledgerCalls } from '../../run/ledger-calls.ts';
import {
  Broken,
  type CheckedStatement,
  NotChecked,
  type Send,
} from '../../service/check/statement.ts';
import {
  CREDITS_NEEDED,
  creditsAtRisk,
  runChecks,
  STATEMENTS,
} from '../../service/check/statement-table.ts';
import type { FinalState } from '../../store/runs/port.ts';
import { askToSpend } from '../frame/ask-approval.ts';
import { type CliContext, print, say, sayJson } from '../frame/context.ts';
import { jobOfAccount } from '../frame/job-of-options.ts';
import { openStore } from '../frame/open-store.ts';
import type { ServiceCheckJson } from '../json/check-json.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** Manhattan: every agency has data there. */
const DEFAULT_LOCATION = { lat: 40.7536, lng: -73.9832 };

/** Denver; another county must have the same text on radon. */
const ELSEWHERE = { lat: 39.7392, lng: -104.9903 };

const APART_METERS = 100_000;

/** Under this name `status` and `quota --by job` list what checks have spent. */
const JOB_NAME = 'service check';

/** Longest reason, in characters: a reason may quote the service. */
const MAX_REASON = 400;

interface PlannedCheck {
  readonly job: Job;
  readonly baseUrl: string;
  /** With all scopes; then perhaps one that lacks some. */
  readonly keys: readonly Key[];
  readonly location: typeof DEFAULT_LOCATION;
  readonly budget: number;
}

/** `perilbook service check [JOB.yaml]`: checks a service against docs/developer/service-api.md, statement by statement. What it spends
 * is in the ledger of the account's store, as for a run. */
export const checkCommand: RunCommand<Flags<'service check'>> = async (context, flags, words) => {
  const job = readCheckedJob(context, flags, words);
  const { baseUrl, keys: sources } = serviceOf(job);
  for (const warning of unencryptedKeys(baseUrl)) say(context, warning);
  const keys = await readCheckKeys(context, sources[0]!, flags);
  refuseKeyInNames(baseUrl, job.account.name, keys);
  const location = {
    lat: parseCheckDegrees(flags, 'lat', DEFAULT_LOCATION.lat, 90),
    lng: parseCheckDegrees(flags, 'lng', DEFAULT_LOCATION.lng, 180),
  };
  const atRisk = creditsAtRisk(keys.length > 1);
  const most = CREDITS_NEEDED + atRisk;
  const budget = job.budget ?? most;
  const less =
    budget < most
      ? ` The budget of ${counted(budget, 'credit')} is less: what it may not pay for is skipped. For all: --budget ${most}.`
      : '';
  say(
    context,
    `Checks ${counted(STATEMENTS.length, 'statement')} at ${baseUrl}, about ${location.lat}, ${location.lng}; the numbers are those of docs/developer/service-api.md.\n` +
      `It spends up to ${counted(CREDITS_NEEDED, 'credit')} of ${job.account.name}, and up to ${atRisk} more if the service answers calls that it must refuse.${less}`,
  );
  if (job.budget === null && !flags.yes) {
    const approve = `Add --yes or --budget ${most}.`;
    await askToSpend(
      context,
      { most: counted(most, 'credit'), parts: null },
      {
        what: 'check',
        approve,
        later: 'Check again when you want to.',
      },
    );
  }
  return await performCheck(context, flags, { job, baseUrl, keys, location, budget });
};

/** Sends the requests and prints the result; a run of the account's store records them. */
async function performCheck(
  context: CliContext,
  flags: Flags<'service check'>,
  { job, baseUrl, keys, location, budget }: PlannedCheck,
): Promise<number> {
  const { clock, interrupt } = context;
  const secrets = keys.map(({ secret }) => secret);
  const store = await openStore(context, job);
  const proxy = proxyFor(baseUrl, context.env);
  if (proxy !== null) say(context, proxyNotice(proxy));
  const client = createClient({
    baseUrl,
    sockets: 2,
    proxy,
    userAgent: 'perilbook',
    clock,
    secrets,
  });
  let state: FinalState = 'stopped';
  let run: number | null = null;
  try {
    const source = await store.source(sourceName(baseUrl));
    const named = { job: JOB_NAME, input: '-', output: '-', account: job.account.name };
    run = await store.startRun({ ...named, plannedCredits: CREDITS_NEEDED, budget });
    const send = await ledgerCalls({
      store,
      client,
      job,
      keys,
      run,
      source,
      budget,
      clock,
      interrupt,
    });
    // The first limit that prevented a request.
    const limits: { reached: PerilbookError | null } = { reached: null };
    const redactor = makeRedactor(secrets);
    const result = await runChecks({
      send: checkSender(send, baseUrl, limits),
      key: secrets[0]!,
      location,
      elsewhere: distanceMeters(location, ELSEWHERE) < APART_METERS ? DEFAULT_LOCATION : ELSEWHERE,
      clock,
      interrupt,
      clean: (reason) => cleanText(redactor.text(reason), MAX_REASON),
      narrowKey: secrets[1],
      onStatement: flags.json ? undefined : (checked) => print(context, formatStatement(checked)),
    });
    state = limits.reached === null ? 'complete' : 'paused';
    // What was spent according to the ledger.
    const { charged, unknown } = await store.runSpending(run);
    const value: ServiceCheckJson = {
      ...result,
      creditsSpent: charged,
      creditsUnknown: unknown,
    };
    if (flags.json) sayJson(context, value);
    const { passed, failed, skipped } = result;
    const spent = `${counted(charged, 'credit')} spent${unknown === 0 ? '' : `, perhaps ${unknown} more`}`;
    say(
      context,
      `${passed} passed, ${failed} failed, ${skipped} skipped; ${spent}, and in the ledger.`,
    );
    if (limits.reached !== null) {
      say(
        context,
        `${limits.reached.message}; the skipped statements were not checked. ${limits.reached.hint}`,
      );
      return EXIT.paused;
    }
    return failed === 0 && passed > 0 ? EXIT.complete : EXIT.someFailed;
  } catch (error) {
    if (interrupt.aborted) state = 'interrupted';
    throw error;
  } finally {
    await client.close();
    // A store that failed before fails here too. Report the first error.
    if (run !== null)
      await store.finishRun(run, { state, resumeAfter: null, summary: null }).catch(() => {});
    await store.close();
  }
}

/** Account, store and service, from a job file, flags or the environment. */
function readCheckedJob(
  context: CliContext,
  flags: Flags<'service check'>,
  words: readonly string[],
): Job {
  // Its --lat and --lng are coordinates, not columns.
  const { lat: _lat, lng: _lng, ...settings } = flags;
  const { 'credits-per-month': ofMonth, 'credits-per-minute': ofMinute } = flags;
  const subscription =
    ofMonth === undefined || ofMinute === undefined
      ? {}
      : { subscription: { credits_per_month: ofMonth, credits_per_minute: ofMinute } };
  return jobOfAccount(context, words, settings)({ name: JOB_NAME, input: '-', ...subscription });
}

function serviceOf({ service }: Job): Extract<Job['service'], { kind: 'remote' }> {
  if (service.kind !== 'remote') {
    throw usageError(
      '--base-url is missing',
      'Write: perilbook service check --base-url URL --api-key-file FILE',
    );
  }
  const { protocol, hostname } = new URL(service.baseUrl);
  if (protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
    return service;
  const message = `Cannot check the service at "${service.baseUrl}": plain http:// would show the key to others`;
  throw usageError(
    message,
    'Use an https:// address; plain http:// is allowed for this machine only.',
  );
}

/** The key with all scopes and, if named, the key that lacks some. */
async function readCheckKeys(
  context: CliContext,
  source: KeySource,
  flags: Flags<'service check'>,
): Promise<Key[]> {
  const narrow = flags['narrow-key-file'];
  const sources: KeySource[] = [
    source,
    ...(narrow === undefined
      ? []
      : [{ file: resolve(context.workingFolder, narrow), scopes: null }]),
  ];
  for (const warning of exposedKeyFiles(sources)) say(context, warning);
  const keys = await readKeys(sources, context.env, context.interrupt);
  for (const { secret } of keys) requireSendable(secret);
  return keys;
}

function formatStatement({ numbers, statement, outcome, reason }: CheckedStatement): string {
  return `${outcome.padEnd(7)}  ${statement} (${numbers.join(', ')})${reason === '' ? '' : `\n           ${reason}`}`;
}

function parseCheckDegrees(
  flags: Flags<'service check'>,
  name: 'lat' | 'lng',
  otherwise: number,
  bound: number,
) {
  const text = flags[name];
  if (text === undefined) return otherwise;
  const degrees = Number(text);
  if (text.trim() !== '' && Math.abs(degrees) <= bound) return degrees;
  throw usageError(
    `--${name} ${text} is not a coordinate`,
    'Write decimal degrees, like --lat 39.7392.',
  );
}

/** So many requests in a row without an answer mean that the service is down; each may have waited two minutes. */
const DOWN_AFTER = 3;

/** Sends the requests of a service check through the client. @throws SERVICE_DOWN */
function checkSender(
  send: (request: Parameters<Send>[0]) => Promise<Exchange>,
  baseUrl: string,
  limits: { reached: PerilbookError | null },
): Send {
  let unanswered = 0;
  return async (request) => {
    const exchange = await send(request).catch((error: unknown) => {
      const isLimit =
        error instanceof PerilbookError &&
        ['QUOTA_EXCEEDED', 'BUDGET_REACHED'].includes(error.code);
      if (!isLimit) throw error;
      limits.reached ??= error;
      throw new NotChecked(error.message);
    });
    if (exchange.kind === 'response') {
      unanswered = 0;
      const { status, headers, content } = exchange;
      if (content.kind === 'unread')
        throw new Broken(`the answer is too large to read: ${content.why}`);
      return {
        status,
        headers,
        body: content.kind === 'json' && !content.isRepaired ? content.value : null,
      };
    }
    unanswered++;
    if (exchange.reached === 'never' || unanswered >= DOWN_AFTER) {
      const hint = 'Check the address, and whether the service is running.';
      throw new PerilbookError(
        'SERVICE_DOWN',
        `Cannot reach the service at ${baseUrl}: ${exchange.message}`,
        hint,
      );
    }
    throw new Broken(exchange.message);
  };
}
