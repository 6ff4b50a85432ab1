import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import { CREDITS } from '../contract/credits.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug, topicOf } from '../contract/topics.ts';
import { addSample, lacksSample, refreshSampleReadings } from '../data/sample/add-sample.ts';
import { openDataDatabase } from '../data/tables/data-database.ts';
import { purchaseJob } from '../job/connection-kinds.ts';
import { fingerprintOf, type Key } from '../job/planning/api-keys.ts';
import type { Job, Surroundings } from '../job/settings/settings.ts';
import { createAccount, listAccounts } from '../service/accounts/sqlite/accounts.ts';
import { type AccountsDatabase, accountsFileFor, openAccounts } from '../service/accounts/sqlite/accounts-database.ts';
import { createKey, revokeKey } from '../service/accounts/sqlite/keys.ts';
import { sqliteAccounts } from '../service/accounts/sqlite/sqlite-accounts.ts';
import { startService } from '../service/http/start-service.ts';
import { isPostgresAddress } from '../sql/postgres-address.ts';

export interface EmbeddedService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly keys: readonly Key[];
}

/**
 * Starts our own service on loopback with sample data for a job's topics, the job's account, and a key that is revoked at the end.
 *
 * @param notice prints a message before a step that takes seconds
 */
export async function startEmbeddedService(
  context: Pick<Surroundings, 'dataFolder'> & { readonly clock: Clock },
  job: Job,
  notice: (line: string) => void,
): Promise<EmbeddedService> {
  const file = embeddedDatabaseFile(context, job);
  mkdirSync(dirname(file), { recursive: true });
  const topics = topicsToLoad(job);
  await using opened = new AsyncDisposableStack();
  const data = opened.use(openDataDatabase(file));
  if (lacksSample(data, topics)) {
    notice('Creating the sample data of the embedded service (once, takes seconds) …');
    addSample(data, topics, context.clock);
  }
  const accounts = opened.use(openAccounts(accountsFileFor(file)));
  refreshSampleReadings(data, context.clock);
  const account = embeddedAccount(accounts, job, context.clock);
  const { key: secret, id } = createKey(accounts, account, ['bundle', ...TOPIC_SLUGS], context.clock);
  opened.defer(() => revokeKey(accounts, id, context.clock));
  const service = opened.use(await startService({ data, accounts: sqliteAccounts(accounts, context.clock), port: 0 }));
  const running = opened.move();
  return {
    baseUrl: service.url,
    keys: [{ secret, fingerprint: fingerprintOf(secret), scopes: null }],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * The topics that the calls of a job may return: single calls those that are asked for, a standard bundle all natural ones, an
 * enterprise bundle every topic. All data takes five seconds to make, that of the natural topics one.
 */
function topicsToLoad({ topics, optimize }: Job): readonly TopicSlug[] {
  const others = topics.filter((topic) => topicOf(topic).category !== 'natural');
  const natural = others.length < topics.length ? NATURAL_SLUGS : [];
  // A standard bundle may lack one natural topic.
  const withoutEnterprise =
    (natural.length > 0 ? CREDITS.standard + CREDITS.single : 0) + others.length * CREDITS.single;
  return optimize === 'credits' && withoutEnterprise < CREDITS.enterprise ? [...natural, ...others] : TOPIC_SLUGS;
}

/** The embedded service's data and accounts: beside the store, so that both are deleted together; in the data folder where the
 * store is a database. */
function embeddedDatabaseFile(context: Pick<Surroundings, 'dataFolder'>, job: Job): string {
  const folder = isPostgresAddress(job.store) ? context.dataFolder : dirname(job.store);
  return join(folder, 'sample-service.db');
}

/** One account for each name, anniversary and subscription. None is ever changed: that could end the quota of a run that is
 * using it. */
function embeddedAccount(accounts: AccountsDatabase, job: Job, clock: Clock): string {
  const { name: account, subscription, anniversaryDay } = purchaseJob(job, { sample: true }).account;
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
