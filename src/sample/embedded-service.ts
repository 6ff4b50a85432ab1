import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import { CREDITS } from '../contract/credits.ts';
import {
  NATURAL_SLUGS,
  PAID_SLUGS,
  TOPIC_SLUGS,
  type TopicSlug,
  topicOf,
} from '../contract/topics.ts';
import { onDataFile, openDataDatabase } from '../data/tables/data-database.ts';
import type { Job, JobFolders } from '../job/settings.ts';
import { hashSecret } from '../run/frame/api-keys.ts';
import { purchaseJob } from '../run/frame/connection-kinds.ts';
import {
  accountsFileFor,
  openAccounts,
  sqliteAccounts,
} from '../service/accounts/open-accounts.ts';
import type { ServiceAccounts } from '../service/accounts/service-accounts.ts';
import { startService } from '../service/http/start-service.ts';
import { addSample, lacksSample, refreshSampleReadings } from './add-sample.ts';
import { sampleDataFile } from './sample-file.ts';

/** The running service and the key to it. */
interface EmbeddedService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly keys: readonly {
    readonly secret: string;
    readonly fingerprint: string;
    /** Null: all. */
    readonly scopes: null;
  }[];
}

/** Starts our own service on loopback with sample data for a job's topics, the job's account, and a key that is revoked at the end.
 * @param notice prints a message before a step that takes seconds */
export async function startEmbeddedService(
  { dataFolder, clock }: Pick<JobFolders, 'dataFolder'> & { readonly clock: Clock },
  job: Job,
  notice: (line: string) => void,
): Promise<EmbeddedService> {
  const file = sampleDataFile(job, { dataFolder });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return await onDataFile(file, async () => {
    const topics = topicsToLoad(job);
    await using opened = new AsyncDisposableStack();
    const data = opened.use(openMadeUp(file, openDataDatabase));
    if (lacksSample(data, topics)) {
      notice('Creating the sample data (takes seconds) …');
      addSample(data, topics, clock);
    }
    const accounts = sqliteAccounts(
      opened.use(openMadeUp(accountsFileFor(file), openAccounts)),
      clock,
    );
    refreshSampleReadings(data, clock);
    const account = await embeddedAccount(accounts, job);
    const { key: secret, id } = await accounts.createKey(account, ['bundle', ...TOPIC_SLUGS], null);
    // On a full disk it stays: a key of made-up data. The reason why the run failed matters more.
    opened.defer(() => accounts.revokeKey(id).catch(() => {}));
    const service = opened.use(await startService({ data, accounts, port: 0 }));
    const running = opened.move();
    return {
      baseUrl: service.url,
      keys: [{ secret, fingerprint: hashSecret(secret), scopes: null }],
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  });
}

/** Opens a made-up database; one that another version of Perilbook has left is deleted first. */
function openMadeUp<Opened>(file: string, open: (file: string) => Opened): Opened {
  try {
    return open(file);
  } catch (error) {
    if (!(error instanceof PerilbookError) || error.context.version === undefined) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    return open(file);
  }
}

/** The topics that a job's calls may return: single calls return the job's topics, a standard bundle all natural topics, an
 * enterprise bundle all topics of the contract. Sample data of fewer topics is made faster, and only topics with readings need new readings. */
function topicsToLoad({ topics, optimize }: Job): readonly TopicSlug[] {
  const others = topics.filter((topic) => topicOf(topic).category !== 'natural');
  const natural = others.length < topics.length ? NATURAL_SLUGS : [];
  // A standard bundle may lack one natural topic.
  const ofNatural = natural.length > 0 ? CREDITS.standard + CREDITS.single : 0;
  const isEnterprise =
    optimize !== 'credits' || ofNatural + others.length * CREDITS.single >= CREDITS.enterprise;
  return [...new Set(isEnterprise ? [...PAID_SLUGS, ...topics] : [...natural, ...others])];
}

/** One account for each name, anniversary and subscription. None is ever changed: that could end the quota of a run that is using it. */
async function embeddedAccount(accounts: ServiceAccounts, job: Job): Promise<string> {
  const {
    name: account,
    subscription,
    anniversaryDay,
  } = purchaseJob(job, { sample: true }).account;
  const figures = `${subscription.creditsPerMonth} a month, ${subscription.creditsPerMinute} a minute`;
  const name = `${account}: ${figures}, resets on day ${anniversaryDay}`;
  // In January, which has 31 days, so that an anniversary on the 31st is possible.
  const signedUpAt = billingPeriod(anniversaryDay, Date.UTC(2024, 0, 31)).start;
  const isThere = async () => (await accounts.listAccounts()).some((other) => other.name === name);
  if (await isThere()) return name;
  try {
    await accounts.createAccount({ name, subscription, signedUpAt });
  } catch (error) {
    // Another run that starts at the same time may have made it.
    if (!(await isThere())) throw error;
  }
  return name;
}
