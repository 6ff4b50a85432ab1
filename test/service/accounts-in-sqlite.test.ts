import { tryAccountChanges } from './account-change-trials.ts';
import { sqliteUnderTest } from './accounts-under-test.ts';
import { tryCharges } from './charge-trials.ts';

tryCharges('SQLite', sqliteUnderTest, 60);
tryAccountChanges('SQLite', sqliteUnderTest);
