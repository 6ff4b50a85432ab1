import { systemClock } from '../../src/base/clock.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { testStore } from './store-contract.ts';

const server = await sharedPostgres();

testStore('PostgreSQL', async () => {
  const address = server.storeAddress();
  return {
    open: (clock, owner) =>
      openPostgresStore(address, systemClock, owner, { serverTime: () => `${clock.now()}::bigint` }),
  };
});
