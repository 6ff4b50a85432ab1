import { systemClock } from '../../src/base/clock.ts';
import { openDataReadOnly } from '../../src/data/tables/data-database.ts';
import {
  accountsFileFor,
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../src/service/accounts/open-accounts.ts';
import { startService } from '../../src/service/http/start-service.ts';
import { StillClock } from './small-data.ts';

/* A service in a process of its own, on the data file that the first argument names: with the accounts file beside it, on a still clock,
 * or as one of several instances with the PostgreSQL accounts of the second argument; the third is the length of its lease. Tells its
 * port to the process above, and ends when it is told to. */

const [file, url, leaseMs] = process.argv.slice(2);
const accounts =
  url === undefined
    ? sqliteAccounts(openAccounts(accountsFileFor(file!)), new StillClock())
    : await openPostgresAccounts(url, systemClock, { leaseMs: Number(leaseMs) });
const service = await startService({
  ...{ data: openDataReadOnly(file!), accounts, port: 0 },
  onError: (error) => process.stderr.write(`${error}\n`),
});
process.on('message', async () => {
  await service.close();
  await accounts[Symbol.asyncDispose]();
  process.disconnect();
});
process.send!(service.port);
