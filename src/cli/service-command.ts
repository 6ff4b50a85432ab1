import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PerilbookError } from '../errors.ts';
import { openServiceDatabase, type ServiceDatabase } from '../service/data/database.ts';
import { describeData } from '../service/data/describe-data.ts';
import { startService } from '../service/http/start-service.ts';
import { deliverSample } from '../service/sample/build-sample-database.ts';
import { EXIT } from './exit-codes.ts';
import type { Flags } from './program.ts';
import { accountAction, keyAction } from './service-accounts.ts';
import { counted, dateTime, grouped, table } from './words.ts';
import { dataFolder, say, sayJson, type World } from './world.ts';

const DEFAULT_PORT = 8737;

/** `perilbook service start | load | data | account … | key …`: the lookup service and its books. */
export async function serviceCommand(world: World, flags: Flags): Promise<number> {
  const file = resolve(world.workingFolder, (flags.db as string | undefined) ?? `${dataFolder(world)}/service.db`);
  mkdirSync(dirname(file), { recursive: true });
  const database = openServiceDatabase(file);
  try {
    switch (flags.action) {
      case 'start':
        return await startAction(world, database, file, flags);
      case 'load':
        return loadAction(world, database, flags);
      case 'data':
        return dataAction(world, database, flags);
      case 'account':
        return accountAction(world, database, flags);
      default:
        return keyAction(world, database, flags);
    }
  } finally {
    database.close();
  }
}

async function startAction(world: World, database: ServiceDatabase, file: string, flags: Flags): Promise<number> {
  const { topics, unavailable, sample } = describeData(database);
  const port = (flags.port as number | undefined) ?? DEFAULT_PORT;
  const onError = (error: unknown) =>
    say(world, `perilbook service: ${error instanceof Error ? error.message : error}`);
  const service = await startService({ database, clock: world.clock, port, onError });
  say(world, `perilbook service: ${service.url}, data in ${file}`);
  if (sample) say(world, 'Sample data: made up, not for decisions.');
  say(world, `${counted(topics.length, 'topic')} can be answered.`);
  if (unavailable.length > 0) {
    say(
      world,
      `Unavailable: ${unavailable.map(({ topic }) => topic).join(' ')} (perilbook service load sample fills all with sample data)`,
    );
  }
  if (!world.interrupt.aborted) {
    await new Promise((done) => world.interrupt.addEventListener('abort', done, { once: true }));
  }
  await service.close();
  return EXIT.complete;
}

function loadAction(world: World, database: ServiceDatabase, flags: Flags): number {
  if (flags.what !== 'sample') {
    throw new PerilbookError(
      'USAGE',
      `There is no loader for ${JSON.stringify(flags.what ?? '')}`,
      'Say: perilbook service load sample.',
    );
  }
  deliverSample(database, world.clock);
  say(
    world,
    `Loaded sample data: ${counted(describeData(database).datasets.length, 'data set')}, made up, not for decisions.`,
  );
  return EXIT.complete;
}

function dataAction(world: World, database: ServiceDatabase, flags: Flags): number {
  const description = describeData(database);
  if (flags.json) {
    sayJson(world, description);
    return EXIT.complete;
  }
  const rows = description.datasets.map(({ name, rows: count, source, vintage, loadedAt, sample }) => [
    name,
    grouped(count),
    vintage,
    dateTime(loadedAt),
    source + (sample ? ' (sample data)' : ''),
  ]);
  const lines = table(['data set', 'rows', 'vintage', 'loaded', 'source'], rows, '');
  const licences = [...new Set(description.datasets.map(({ licence }) => licence).filter(Boolean))];
  world.stdout.write(
    `${[...lines, '', `${counted(description.topics.length, 'topic')} can be answered.`, ...licences].join('\n')}\n`,
  );
  return EXIT.complete;
}
