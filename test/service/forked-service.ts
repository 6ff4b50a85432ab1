import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { accountsFileFor, openAccounts, sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { startService } from '../../src/service/http/start-service.ts';
import { StillClock } from './small-data.ts';

/* A service on the database file that the first argument names, to be killed; tells its port to the process above. */

const database = openDataDatabase(process.argv[2]!);
const accounts = openAccounts(accountsFileFor(process.argv[2]!));
const service = await startService({ data: database, accounts: sqliteAccounts(accounts, new StillClock()), port: 0 });
process.send!(service.port);
