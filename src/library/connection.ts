import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import { TOPIC_SLUGS } from '../contract/topics.ts';
import { buildSampleDatabase, refreshSampleReadings } from '../data/sample/build-sample-database.ts';
import { SAMPLE_VINTAGE } from '../data/sample/sample-datasets.ts';
import { openDataDatabase } from '../data/tables/data-database.ts';
import { PerilbookError } from '../errors.ts';
import { type LocalData, readLocalData } from '../job/lookup/local-data.ts';
import { topicWords } from '../job/lookup/place-answers.ts';
import { fingerprintOf, readKeys } from '../job/planning/api-keys.ts';
import { exposedKeyFiles, refuseKeyInAddress, unencryptedKeys } from '../job/planning/key-warnings.ts';
import type { Connection, Effects, LocalConnection } from '../job/prepare.ts';
import type { Job, Surroundings } from '../job/settings/settings.ts';
import { isPostgresAddress } from '../postgres/postgres-address.ts';
import { createAccount, listAccounts } from '../service/accounts/sqlite/accounts.ts';
import { type AccountsDatabase, accountsFileFor, openAccounts } from '../service/accounts/sqlite/accounts-database.ts';
import { createKey, revokeKey } from '../service/accounts/sqlite/keys.ts';
import { moveAccounts } from '../service/accounts/sqlite/move-accounts.ts';
import { sqliteAccounts } from '../service/accounts/sqlite/sqlite-accounts.ts';
import { startService } from '../service/http/start-service.ts';
import { getCommand } from './get-command.ts';

/** What opening a connection needs from its caller. */
export interface ConnectionContext extends Surroundings, Pick<Effects, 'clock' | 'random' | 'notice'> {
  /** Where the keys are that a job names by environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Where a job's answers come from, without starting or asking a service: enough for a plan, which must work without a key. A
 * missing key is assumed to have the scopes that the job gives it, or all.
 */
export function unopenedConnection(context: ConnectionContext, job: Job): Connection {
  const local = localConnection(context, job);
  if (local !== null) return local;
  const anyKey = { secret: '', fingerprint: '', scopes: null };
  if (job.service.kind !== 'remote') {
    return { kind: 'service', baseUrl: '', source: EMBEDDED_SOURCE, sample: true, keys: [anyKey] };
  }
  const { baseUrl, keys } = job.service;
  for (const warning of exposedKeyFiles(keys)) context.notice(warning);
  const read = keys.flatMap((key) => {
    try {
      return readKeys([key], context.env);
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'KEY_MISSING')) throw error;
      const { scopes, account = null } = key;
      const assumed = scopes === null ? 'all scopes' : 'the scopes in the job';
      context.notice(`${error.message}; the plan assumes a key with ${assumed}.`);
      return [{ ...anyKey, scopes: scopes && new Set(scopes), account }];
    }
  });
  const secrets = read.map(({ secret }) => secret);
  refuseKeyInAddress(baseUrl, secrets);
  return { kind: 'service', baseUrl, source: baseUrl, sample: false, keys: read };
}

const EMBEDDED_SOURCE = `embedded ${SAMPLE_VINTAGE}`;

/**
 * The local data that a job answers from; null for a service and for the sample. Where the job names none of these, local data
 * is used if it answers one of the topics. Data of which a part is made up counts as none: no output mixes it with real data.
 *
 * @throws LOCAL_DATA where the job wants local data and there is none for its topics
 */
export function localConnection(context: ConnectionContext, job: Job): LocalConnection | null {
  const { service, dataFile } = job;
  if (service.kind === 'remote' || (service.kind === 'sample' && !service.isDefault)) return null;
  return connectionTo(readLocalData(dataFile, context.clock.now()), job, context);
}

/** The connection to local data that was described; null where the job need not use it, and cannot. @throws LOCAL_DATA as above */
export function connectionTo(
  data: LocalData | null,
  job: Job,
  { workingFolder }: Pick<ConnectionContext, 'workingFolder'>,
): LocalConnection | null {
  const { service, topics, counts, dataFile } = job;
  if (data !== null && !data.sample && topics.some((topic) => data.topics.has(topic))) {
    // Answers without counts have gaps that a job with counts must not take for answers. In a store that machines share, each has
    // data of its own.
    const machine = isPostgresAddress(job.store) ? `${hostname()}:` : '';
    const source = `local${counts ? '' : ' without counts'} ${machine}${dataFile}`;
    return { kind: 'local', source, sample: false, data };
  }
  if (service.kind === 'sample') return null;
  throw new PerilbookError(
    'LOCAL_DATA',
    data?.sample ? `The data in ${dataFile} is made up` : `No data for ${topicWords(topics)} is in ${dataFile}`,
    `Get it: ${getCommand(job, workingFolder)}.`,
    { file: dataFile },
  );
}

/** Whether answers of a source in the store cost nothing: those of the embedded service and of local data. Others have addresses. */
export function isFreeSource(source: string): boolean {
  return /^(embedded|local) /.test(source);
}

/** Whether a source in the store is the embedded service, whose answers are made up. */
export function isSampleSource(source: string): boolean {
  return source.startsWith('embedded ');
}

export interface OpenConnection extends AsyncDisposable {
  readonly connection: Connection;
}

/** The embedded service's data and accounts: beside the store, so that both are deleted together; in the data folder where the
 * store is a database. */
function embeddedDatabaseFile(context: ConnectionContext, job: Job): string {
  const folder = isPostgresAddress(job.store) ? context.dataFolder : dirname(job.store);
  return join(folder, 'sample-service.db');
}

/**
 * Opens what a job's answers come from. `sample` starts our own service on loopback with sample data, the job's account, and a key that is
 * revoked at the end.
 *
 * @param tell prints a message before a step that takes seconds
 */
export async function connect(
  context: ConnectionContext,
  job: Job,
  tell: (line: string) => void = context.notice,
): Promise<OpenConnection> {
  const local = localConnection(context, job);
  if (local !== null) return { connection: local, [Symbol.asyncDispose]: async () => {} };
  if (job.service.kind === 'remote') {
    const { baseUrl, keys } = job.service;
    for (const warning of [...exposedKeyFiles(keys), ...unencryptedKeys(baseUrl)]) context.notice(warning);
    const read = readKeys(keys, context.env);
    const secrets = read.map(({ secret }) => secret);
    refuseKeyInAddress(baseUrl, secrets);
    const connection = { kind: 'service', baseUrl, source: baseUrl, sample: false, keys: read } as const;
    return { connection, [Symbol.asyncDispose]: async () => {} };
  }
  const file = embeddedDatabaseFile(context, job);
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
  const service = opened.use(await startService({ data, accounts: sqliteAccounts(accounts, context.clock), port: 0 }));
  const running = opened.move();
  return {
    connection: {
      kind: 'service',
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
