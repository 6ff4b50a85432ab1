import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import { TOPIC_SLUGS } from '../contract/topics.ts';
import { buildSampleDatabase, refreshSampleReadings } from '../data/sample/build-sample-database.ts';
import { SAMPLE_VINTAGE } from '../data/sample/sample-datasets.ts';
import { openDataDatabase } from '../data/tables/data-database.ts';
import { PerilbookError } from '../errors.ts';
import { fingerprintOf, readKeys } from '../job/planning/api-keys.ts';
import { exposedKeyFiles, refuseKeyInAddress, unencryptedKeys } from '../job/planning/key-warnings.ts';
import type { Connection } from '../job/prepare.ts';
import type { Job } from '../job/settings/settings.ts';
import { createAccount, listAccounts } from '../service/accounts/accounts.ts';
import { type AccountsDatabase, accountsFileFor, openAccounts } from '../service/accounts/accounts-database.ts';
import { createKey, revokeKey } from '../service/accounts/keys.ts';
import { moveAccounts } from '../service/accounts/move-accounts.ts';
import { startService } from '../service/http/start-service.ts';
import { type CliContext, say } from './context.ts';

/**
 * A job's service without starting or asking it: enough for a plan, which must work without a key. A missing key is assumed
 * to have the scopes that the job gives it, or all.
 */
export function unopenedConnection(context: CliContext, job: Job): Connection {
  const anyKey = { secret: '', fingerprint: '', scopes: null };
  if (job.service.kind === 'embedded') {
    return { baseUrl: '', source: EMBEDDED_SOURCE, sample: true, keys: [anyKey] };
  }
  const { baseUrl, keys } = job.service;
  for (const warning of exposedKeyFiles(keys)) say(context, warning);
  const read = keys.flatMap((key) => {
    try {
      return readKeys([key], context.env);
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'KEY_MISSING')) throw error;
      const { scopes, account = null } = key;
      const assumed = scopes === null ? 'all scopes' : 'the scopes in the job';
      say(context, `${error.message}; the plan assumes a key with ${assumed}.`);
      return [{ ...anyKey, scopes: scopes && new Set(scopes), account }];
    }
  });
  const secrets = read.map(({ secret }) => secret);
  refuseKeyInAddress(baseUrl, secrets);
  return { baseUrl, source: baseUrl, sample: false, keys: read };
}

const EMBEDDED_SOURCE = `embedded ${SAMPLE_VINTAGE}`;

/** Whether a source in the store is the embedded service, whose answers cost nothing. */
export function isSampleSource(source: string): boolean {
  return source.startsWith('embedded ');
}

export interface OpenConnection extends AsyncDisposable {
  readonly connection: Connection;
}

/** The embedded service's data and accounts: beside the store, so that both are deleted together. */
function embeddedDatabaseFile(job: Job): string {
  return join(dirname(job.store), 'sample-service.db');
}

/**
 * Connects to a job's service. `embedded` starts our own on loopback with sample data, the job's account, and a key that is
 * revoked at the end.
 *
 * @param tell prints a message before a step that takes seconds
 */
export async function connect(
  context: CliContext,
  job: Job,
  tell: (line: string) => void = (line) => say(context, line),
): Promise<OpenConnection> {
  if (job.service.kind === 'remote') {
    const { baseUrl, keys } = job.service;
    for (const warning of [...exposedKeyFiles(keys), ...unencryptedKeys(baseUrl)]) say(context, warning);
    const read = readKeys(keys, context.env);
    const secrets = read.map(({ secret }) => secret);
    refuseKeyInAddress(baseUrl, secrets);
    const connection = { baseUrl, source: baseUrl, sample: false, keys: read };
    return { connection, [Symbol.asyncDispose]: async () => {} };
  }
  const file = embeddedDatabaseFile(job);
  if (!existsSync(file)) {
    tell('Creating the sample data of the embedded service (once, takes seconds) …');
    buildSampleDatabase(file, context.clock, String(Math.trunc(context.random() * 1e15)));
  }
  await using opened = new AsyncDisposableStack();
  const data = opened.use(openDataDatabase(file));
  const accounts = opened.use(openAccounts(accountsFileFor(file)));
  moveAccounts(data, accounts);
  refreshSampleReadings(data, context.clock);
  const account = embeddedAccount(accounts, job, context.clock);
  const key = createKey(accounts, account, ['bundle', ...TOPIC_SLUGS], context.clock);
  opened.defer(() => revokeKey(accounts, key.id, context.clock));
  const service = opened.use(await startService({ data, accounts, clock: context.clock, port: 0 }));
  const running = opened.move();
  return {
    connection: {
      baseUrl: service.url,
      source: EMBEDDED_SOURCE,
      sample: true,
      keys: [{ secret: key.key, fingerprint: fingerprintOf(key.key), scopes: null }],
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** One account for each name, anniversary and subscription. None is ever changed: that could end the quota of a run that is
 * using it. */
function embeddedAccount(accounts: AccountsDatabase, job: Job, clock: Clock): string {
  const { name: account, subscription, anniversaryDay } = job.account;
  const figures = `${subscription.creditsPerMonth} a month, ${subscription.creditsPerMinute} a minute`;
  const name = `${account}: ${figures}, resets on day ${anniversaryDay}`;
  // January has all 31 days, so that a sign-up on the 31st stays one.
  const signedUpAt = billingPeriod(anniversaryDay, Date.UTC(2024, 0, 31)).start;
  const isThere = () => listAccounts(accounts).some((one) => one.name === name);
  // In one transaction: two runs may start at the same time.
  const create = accounts.transaction(
    () => isThere() || createAccount(accounts, { name, subscription, signedUpAt }, clock),
  );
  create.immediate();
  return name;
}
