import { openServiceDatabase } from '../../src/data/tables/data-database.ts';
import { startService } from '../../src/service/http/start-service.ts';
import { StillClock } from './small-data.ts';

/* A service on the database file that the first argument names, to be killed; tells its port to the process above. */

const database = openServiceDatabase(process.argv[2]!);
const service = await startService({ database, clock: new StillClock(), port: 0 });
process.send!(service.port);
