import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { createCellAreaFinder } from '../data/tables/cell-area-finder.ts';
import { type DataDatabase, openDataReadOnly } from '../data/tables/data-database.ts';
import { describeData } from '../data/tables/describe-data.ts';
import type { Job } from '../job/settings.ts';
import type { OpenedAreas } from '../run/run-context.ts';
import type { ConnectionContext } from './connection.ts';
import { getBoundariesCommand } from './get-command.ts';

/** Opens the boundaries for a job with `areas`, in one read transaction, so that a `data update` meanwhile has no effect. Sample
 * boundaries are made up and must not decide what is bought.
 * @throws PerilbookError SERVICE_DATA when the boundaries are not here */
export function openAreas(context: ConnectionContext, job: Job): OpenedAreas {
  using opened = new DisposableStack();
  const database = opened.use(openWithAreas(context, job));
  database.exec('BEGIN');
  const find = createCellAreaFinder(database, job.areas!, job.precision);
  const owned = opened.move();
  return { find, [Symbol.dispose]: () => owned.dispose() };
}

/** Checks that the boundaries are here, without reading them: they may be of 85,000 tracts. @throws PerilbookError SERVICE_DATA */
export function requireAreas(context: ConnectionContext, job: Job): void {
  openWithAreas(context, job)[Symbol.dispose]();
}

function openWithAreas(context: ConnectionContext, job: Job): DataDatabase {
  const level = job.areas!;
  const file = join(context.dataFolder, 'data.db');
  const hint = `Run: ${getBoundariesCommand(level, job.input, context.workingFolder)}`;
  if (!existsSync(file)) throw missing(`There are no ${NAMES[level]} boundaries on this machine`, hint, file);
  using opened = new DisposableStack();
  const database = opened.use(openDataReadOnly(file));
  const levels = describeData(database).datasets.filter(
    ({ name, sample }) => name === 'areas' && !(sample && job.service.kind === 'remote'),
  );
  if (!levels.some((dataset) => dataset.level === level)) {
    const [other] = levels;
    throw other === undefined
      ? missing(`There are no ${NAMES[level]} boundaries on this machine`, hint, file)
      : missing(
          `There are ${NAMES[other.level as 'tract']} boundaries on this machine, but no ${NAMES[level]} boundaries`,
          `${hint}, or set areas: ${other.level}.`,
          file,
        );
  }
  opened.move();
  return database;
}

const NAMES = { tract: 'census tract', county: 'county' } as const;

function missing(message: string, hint: string, file: string): PerilbookError {
  return new PerilbookError('SERVICE_DATA', message, hint, { file });
}
