import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/base/clock.ts';
import { processOwner } from '../../src/base/running-processes.ts';
import {
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../src/service/accounts/open-accounts.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { callAt, SINGLE, termsOf } from '../store/claims.ts';

/* A process that holds something until it is killed: `claim STORE OWNER` a cell in the store, as the process that OWNER names (empty: as itself),
 * or `charge ACCOUNTS KEY` the last credits of an account. Says when it has it. */

const [kind, place = '', name = ''] = process.argv.slice(2);
if (kind === 'claim') {
  const owner = processOwner();
  const store = openSqliteStore(place, systemClock, { ...owner, name: name || owner.name });
  const [claim] = await store.claim(await termsOf(store), [callAt(1, SINGLE)]);
  if (claim?.outcome !== 'granted') throw new Error(claim?.outcome);
} else {
  const accounts = place.startsWith('postgres')
    ? await openPostgresAccounts(place, systemClock)
    : sqliteAccounts(openAccounts(place), systemClock);
  const instance = await accounts.register(() => {});
  const [checked] = await instance.check([{ key: name, call: SINGLE }]);
  if (typeof checked !== 'object') throw new Error(String(checked));
  const [charge] = await instance.charge([
    { caller: checked.caller, call: SINGLE, requestId: randomUUID() },
  ]);
  if (!('id' in charge!)) throw new Error(charge!.failure);
}
// The channel to the process above keeps this one running.
process.on('message', () => {});
process.send!('held');
