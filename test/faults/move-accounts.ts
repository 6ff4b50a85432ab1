import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { accountsFileFor, openAccounts } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { moveAccounts } from '../../src/service/accounts/sqlite/move-accounts.ts';

/* Moves the accounts out of the data file that the first argument names, to be killed at a step. */

const file = process.argv[2]!;
using data = openDataDatabase(file);
using accounts = openAccounts(accountsFileFor(file));
moveAccounts(data, accounts);
