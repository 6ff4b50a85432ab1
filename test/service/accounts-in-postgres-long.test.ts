import { sharedPostgres } from '../postgres-server.ts';
import { tryAccountChanges } from './account-change-trials.ts';
import { postgresUnderTest } from './accounts-under-test.ts';
import { tryCharges } from './charge-trials.ts';

const server = await sharedPostgres();

tryCharges('PostgreSQL', () => postgresUnderTest(server), 60);
tryAccountChanges('PostgreSQL', () => postgresUnderTest(server));
