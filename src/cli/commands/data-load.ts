import { resolve } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import { allLayers } from '../../contract/topics.ts';
import { type LoadResult, loadFiles } from '../../data/loaders/load-files.ts';
import type { LoaderOptions } from '../../data/loaders/loader.ts';
import { LOADERS, layerLoaders, loaderNamed } from '../../data/loaders/loader-table.ts';
import { addressOf, territoriesOf } from '../../data/sources/source-table.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { datasetLabel } from '../../data/tables/parts.ts';
import { stateNamed } from '../../data/tables/states.ts';
import { definedOnly } from '../../job/merge-settings.ts';
import { importSample } from '../../sample/add-sample.ts';
import { type CliContext, printResult, say, sayJson } from '../frame/context.ts';
import type { DataAction } from '../frame/data-settings.ts';
import { listed } from '../messages/format.ts';
import { usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { showLine } from '../progress/line-in-place.ts';

/** `perilbook data load sample | LOADER FILE…`; without a name, lists the loaders. */
export const loadAction: DataAction<Flags<'data load'>> = async (
  context,
  { open },
  [name, ...paths],
  flags,
) => {
  if (name === undefined) {
    const loaders = [...LOADERS, ...layerLoaders()].map(
      ([loader, { describe }]) => [loader, describe] as const,
    );
    const lines = () => listed([['sample', 'made-up data for all topics'], ...loaders], '');
    return void printResult(context, flags, Object.fromEntries(loaders), lines);
  }
  if (name === 'sample') {
    if (paths.length > 0) throw usageError('data load sample takes no file', 'Leave the file out.');
    const database = open();
    // Sample data must not replace agencies' data by mistake.
    const real = describeData(database).datasets.filter(({ sample, rows }) => !sample && rows > 0);
    if (real.length > 0 && flags.replace !== true) {
      const message = `Cannot load sample data: the database holds ${counted(real.length, 'data set')} from agencies' files (${real[0]!.name})`;
      const hint = 'Name another file with --db, or add --replace to replace them.';
      throw new PerilbookError('SERVICE_DATA', message, hint);
    }
    importSample(database, context.clock);
    const { datasets } = describeData(database);
    say(
      context,
      `Loaded sample data: ${counted(datasets.length, 'data set')}, made up, not for decisions.`,
    );
    return;
  }
  loaderNamed(name);
  const named = paths.map((file) => resolve(context.workingFolder, file));
  const files = named.length > 0 ? named : describedFiles(name);
  if (files.length === 0) {
    throw usageError(
      `Missing file for the loader ${name}`,
      `Write: perilbook data load ${name} FILE`,
    );
  }
  const progress = showLine(context);
  const onRecords = (records: number) => progress.line(() => `${counted(records, 'record')} …`);
  const address = addressOf(name);
  const options = {
    ...parseLoaderOptions(context, flags),
    territories: territoriesOf(name),
    ...(address !== undefined && { address }),
  };
  const result = await loadFiles(open(), name, files, options, context.clock, onRecords).finally(
    progress.end,
  );
  if (flags.json) sayJson(context, result);
  say(context, resultMessages(result).join('\n'));
};

/** The files that the description of a layer names. */
function describedFiles(name: string): readonly string[] {
  const layer = allLayers().find((own) => own.layer === name);
  return layer?.sources?.flatMap(({ file }) => file ?? []) ?? [];
}

function parseLoaderOptions(
  { workingFolder }: CliContext,
  flags: Flags<'data load'>,
): LoaderOptions {
  const { lat, lng, sites, source, vintage, licence, states, force, replace } = flags;
  return definedOnly({
    lat,
    lng,
    source,
    vintage,
    licence,
    force,
    replace,
    sites: sites === undefined ? undefined : resolve(workingFolder, sites),
    states: parseStateList(states),
  });
}

/** States in any spelling (CA, ca, California, 06, US-CA); an unknown one is refused later. */
function parseStateList(text: string | undefined): LoaderOptions['states'] {
  const names = text?.split(',').map((name) => name.trim());
  if (names?.length === 1 && names[0]!.toUpperCase() === 'US') return 'US';
  return names?.map((name) => stateNamed(name) ?? name);
}

function resultMessages({
  dataset,
  level,
  vintage,
  records,
  rows,
  loaded,
  rejected,
  notes,
}: LoadResult): string[] {
  const used =
    loaded === rows ? counted(rows, 'row') : `${grouped(loaded)} of ${counted(rows, 'row')}`;
  // Rows and records differ: a row of the NRI has 18 hazards, and a storm has many rows.
  const as = records === loaded ? '' : `, stored as ${counted(records, 'record')}`;
  return [
    `Loaded ${[datasetLabel(dataset, level), vintage].filter(Boolean).join(', ')}: ${used}${as}.`,
    ...rejected.map(
      ({ reason, count, firstFile, firstLine, first }) =>
        `  ${counted(count, 'row')} not used: ${reason} (first: ${firstFile}, line ${firstLine}: ${first})`,
    ),
    ...notes.map((note) => `  ${note}`),
  ];
}
