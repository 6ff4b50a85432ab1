import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { grouped, isoDay } from '../../base/format-numbers.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { withShownAddresses } from '../../base/shown-address.ts';
import { type CheckedSource, checkSources } from '../../data/download/get-sources.ts';
import { monthText, yearIn } from '../../data/download/probe-source.ts';
import { removeDataset, removeSource } from '../../data/download/remove-source.ts';
import { LOADERS, layerLoaders } from '../../data/loaders/loader-table.ts';
import { chooseSources } from '../../data/sources/source-table.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { datasetLabel, readPartsOfSource } from '../../data/tables/parts.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import { requireApproval } from '../frame/ask-approval.ts';
import { print, say, sayJson } from '../frame/context.ts';
import { type DataAction, refuseMissing } from '../frame/data-settings.ts';
import { parseStates } from '../frame/states-of-file.ts';
import type { DataCheckJson, DataRemoveJson } from '../json/data-json.ts';
import { table } from '../messages/format.ts';
import { usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';
import { clientFor } from './data-get.ts';

/** `perilbook data check [NAME…]`: checks that the sources exist, have the expected format and are not old; downloads nothing. */
export const checkSourcesAction: DataAction<Flags<'data check'>> = async (
  context,
  settings,
  names,
  flags,
) => {
  const { env, clock, random, interrupt: signal } = context;
  const { sources, downloads, file, open } = settings;
  const hasKey = ({ keyVariable, keyFile }: (typeof sources)[number]) =>
    keyVariable === undefined || keyFile !== undefined || Boolean(env[keyVariable]);
  const { sources: chosen, along } =
    names.length === 0
      ? { sources: sources.filter(hasKey), along: new Set<string>() }
      : chooseSources(names, true, sources);
  const client = clientFor(context, settings);
  const nothingKept = { onBytes: () => {}, freeBytes: () => Number.POSITIVE_INFINITY };
  try {
    const partsOf = (source: string) => (existsSync(file) ? readPartsOfSource(open(), source) : []);
    const download = { client, clock, random, signal, ...nothingKept };
    const checked = await checkSources(chosen, downloads, partsOf, env, download);
    if (flags.json) sayJson(context, { sources: checked.map(checkedJson) });
    else {
      print(context, table(HEAD, checked.map(resultCells), '').join('\n'));
      for (const one of checked)
        for (const problem of problemsOf(one)) print(context, `${one.source.name}: ${problem}`);
      const files = checked.filter(isFile).map(({ source }) => source.name);
      if (files.length > 0) {
        const which = files.length === checked.length ? '' : ` (${files.join(', ')})`;
        const update = 'To read them whole: perilbook data update';
        say(
          context,
          `Of files${which} only the first bytes were read, not all columns and states. ${update}`,
        );
      }
      const failed = Map.groupBy(checked, ({ error }) => error?.hint ?? '');
      failed.delete('');
      for (const [hint, of] of failed) {
        say(context, `${of.map(({ source }) => source.name).join(', ')}: ${hint}`, 'error');
      }
    }
    // What was not named is told, and does not fail the check of what was.
    const named = checked.filter(({ source }) => !along.has(source.name));
    return named.some(({ error, warnings }) => error !== undefined || warnings.length > 0)
      ? EXIT.serviceDown
      : undefined;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new PerilbookError(
      'INTERRUPTED',
      'The check was interrupted',
      'Run the same command again.',
    );
  } finally {
    await client.close();
  }
};

/** Whether a source is files, of which only the beginning was read; a layer is asked for its columns, and its rows by state. */
const isFile = ({ source: { download }, error }: CheckedSource): boolean =>
  error === undefined && (download.kind === 'file' || download.kind === 'linked');

const HEAD = ['source', 'state', 'rows', 'newest data', 'changed', 'first rows in'];

function resultCells({ source, probed, error, warnings }: CheckedSource): string[] {
  const rows = probed.flatMap((probe) => probe.rows ?? []);
  const days = probed.flatMap(({ changedAt }) => changedAt ?? []);
  const newest = probed.map((probe) => newestData(source, probe)).sort();
  return [
    source.name,
    error !== undefined ? 'FAILED' : warnings.length > 0 ? 'WARNING' : 'ok',
    rows.length === 0 ? '' : grouped(rows.reduce((sum, count) => sum + count)),
    newest.at(-1) ?? '',
    days.length === 0 ? '' : isoDay(Math.max(...days)),
    boxText(probed.flatMap(({ box }) => box ?? [])),
  ];
}

/** The date of the data: of a layer's newest row, of a file's address, or as the source states it; '' where nothing tells it. */
function newestData(
  source: CheckedSource['source'],
  { newest, url }: CheckedSource['probed'][number],
): string {
  const stated = source.vintage === 'edited' ? undefined : source.vintage;
  return (
    newest?.replace(/^to /, '') ??
    (monthText(source, url) || (yearIn(source, url)?.toString() ?? stated ?? ''))
  );
}

/** The longitudes and latitudes of some boxes: `-124.3 to -117.0, 32.5 to 42.0`; '' for none. */
function boxText(boxes: readonly Box[]): string {
  const range = (least: 'minLng' | 'minLat', most: 'maxLng' | 'maxLat') => {
    const [from, to] = [
      Math.min(...boxes.map((box) => box[least])),
      Math.max(...boxes.map((box) => box[most])),
    ];
    return `${from.toFixed(1)} to ${to.toFixed(1)}`;
  };
  return boxes.length === 0 ? '' : `${range('minLng', 'maxLng')}, ${range('minLat', 'maxLat')}`;
}

const problemsOf = ({ error, warnings, away }: CheckedSource): readonly string[] =>
  error === undefined ? [...warnings, ...away] : [error.message];

function checkedJson(checked: CheckedSource): DataCheckJson['sources'][number] {
  const { source, probed, error, warnings, away } = checked;
  return {
    source: source.name,
    ok: error === undefined && warnings.length === 0,
    warning: warnings.length === 0 ? undefined : warnings.join('; '),
    answers: probed.map((probe) => ({
      url: probe.url,
      rows: probe.rows,
      newest: newestData(source, probe) || undefined,
      box: probe.box && [probe.box.minLng, probe.box.minLat, probe.box.maxLng, probe.box.maxLat],
      changed: probe.changedAt === undefined ? undefined : new Date(probe.changedAt).toISOString(),
    })),
    away: away.length === 0 ? undefined : away,
    first_bytes_only: isFile(checked),
    error: error && { code: error.code, message: error.message, hint: error.hint },
  };
}

/** `perilbook data remove NAME… [--states …]`: removes downloads and what was loaded from them, what a loader has loaded by hand, or loaded
 * datasets by their names. */
export const removeAction: DataAction<Flags<'data remove'>> = async (
  context,
  settings,
  names,
  flags,
) => {
  const { sources, downloads, file, open } = settings;
  if (flags.db !== undefined) refuseMissing(file, '--db');
  const loaded = existsSync(file) ? describeData(open()).datasets : [];
  const namesOf = ({ name, level, sample }: (typeof loaded)[number]): string[] => [
    name,
    datasetLabel(name, level),
    ...(sample ? ['sample'] : []),
  ];
  /** Whether the loader with this name fills the dataset. */
  const isLoadedAs = (name: string, { name: dataset, level }: (typeof loaded)[number]) => {
    const loads = (LOADERS.get(name) ?? layerLoaders().get(name))?.loads;
    return loads?.name === dataset && (loads.level === '' || loads.level === level);
  };
  const listedNames = [
    ...sources.map(({ name }) => name),
    ...LOADERS.keys(),
    ...layerLoaders().keys(),
    'sample',
    ...loaded.flatMap(namesOf),
  ];
  const unknown = names.find((name) => !listedNames.includes(name));
  if (unknown !== undefined || names.length === 0) {
    const message =
      unknown === undefined
        ? 'Missing argument: the sources or datasets to remove'
        : `There is no source or loaded dataset "${withShownAddresses(unknown)}"${didYouMean(unknown, listedNames)}`;
    throw usageError(message, 'perilbook data lists what is here.');
  }
  const states = parseStates(flags.states);
  const of = states === null ? '' : ` of ${states.join(', ')}`;
  const isLoaded = (name: string) =>
    loaded.some((set) => namesOf(set).includes(name) || isLoadedAs(name, set));
  const here = names.filter((name) => isLoaded(name) || existsSync(join(downloads, name)));
  if (here.length > 0 && !flags.yes) {
    await requireApproval(context, {
      question: `Remove ${here.join(', ')}${of}?`,
      unapproved: `This would remove ${here.join(', ')}${of}`,
      approve: 'Add --yes. perilbook data lists what is here.',
      refused: 'Nothing was removed',
      later: 'perilbook data lists what is here.',
    });
  }
  const removed = names.map((name) => {
    const source = sources.find((entry) => entry.name === name);
    const ofSource =
      source === undefined ? null : removeSource(open(), source, downloads, states, context.clock);
    const ofName: string[] = [];
    for (const dataset of loaded) {
      const isNamed = namesOf(dataset).includes(name);
      if (!isNamed && !isLoadedAs(name, dataset)) continue;
      if (!removeDataset(open(), dataset, sources, downloads, states, context.clock, !isNamed))
        continue;
      ofName.push(datasetLabel(dataset.name, dataset.level));
    }
    return {
      source: name,
      datasets: ofName.length === 0 ? ofSource : [...new Set([...(ofSource ?? []), ...ofName])],
    };
  });
  const value: DataRemoveJson = { removed };
  if (flags.json) return void sayJson(context, value);
  for (const { source, datasets } of removed) {
    const nothing = isLoaded(source)
      ? `it has no part${of}, and nothing was removed. perilbook data remove ${source} removes all of it`
      : 'nothing of it was here';
    const what =
      datasets === null ? nothing : `removed ${datasets.join(', ') || 'its downloads'}${of}`;
    say(context, `${source}: ${what}.`);
  }
};
