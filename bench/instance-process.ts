/** One instance of the service: on the data file and the accounts that the parent names, a SQLite file or a PostgreSQL address.
 * The first instance makes the account, and says its key. */
import { systemClock } from '../src/base/clock.ts';
import { customSubscription } from '../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../src/contract/topics.ts';
import { openDataReadOnly } from '../src/data/tables/data-database.ts';
import {
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../src/service/accounts/open-accounts.ts';
import { startService } from '../src/service/http/start-service.ts';
import { isPostgresAddress } from '../src/sql/postgres-address.ts';

/** What an instance says when it listens. */
export interface InstanceStarted {
  readonly url: string;
  readonly key: string;
}

const [file, place, isFirst] = process.argv.slice(2) as [string, string, string];
const accounts = isPostgresAddress(place)
  ? await openPostgresAccounts(place, systemClock)
  : sqliteAccounts(openAccounts(place), systemClock);
let key = '';
if (isFirst === 'first') {
  await accounts.createAccount({ name: 'bench', subscription: customSubscription(1e12, 1e12) });
  key = (await accounts.createKey('bench', ['bundle', ...TOPIC_SLUGS], null)).key;
}
const service = await startService({ data: openDataReadOnly(file), accounts, port: 0 });
process.on('message', async () => {
  await service.close();
  await accounts[Symbol.asyncDispose]();
  process.exit(0);
});
const started: InstanceStarted = { url: service.url, key };
process.send!(started);
