import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { fileSystemError, refuseFullDisk } from '../../data/download/download-errors.ts';
import type { DownloadContext } from '../../data/download/download-file.ts';
import { lockDownloads, readManifest } from '../../data/download/downloads-folder.ts';
import {
  type ObtainedSource,
  obtainSources,
  type WantedSource,
  wantedSources,
} from '../../data/download/get-sources.ts';
import { loadDownloads, unloadedSlices } from '../../data/download/load-downloads.ts';
import { boxOfBounds } from '../../data/download/place-tiles.ts';
import { listSlices, sliceOfKey } from '../../data/download/source-requests.ts';
import { createTransferRate } from '../../data/download/transfer-rate.ts';
import { askedAddress, createWebClient, type WebClient } from '../../data/download/web-client.ts';
import type { Source } from '../../data/sources/source.ts';
import { chooseSources } from '../../data/sources/source-table.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { requireApproval } from '../frame/ask-approval.ts';
import { type CliContext, printResult, say, sayJson } from '../frame/context.ts';
import type { DataAction, DataSettings } from '../frame/data-settings.ts';
import { areaOfFile, type LocationsArea, parseStates } from '../frame/states-of-file.ts';
import {
  downloadPlanJson,
  downloadPlanMessages,
  estimatedBytes,
  type SourceOutcome,
  sizeOfAll,
  sourceErrorMessage,
  sourceOutcomeMessages,
  sourceOutcomesJson,
  transferMessage,
} from '../messages/download-messages.ts';
import { colorFor } from '../messages/format.ts';
import { type ExitCode, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { exitCodeOfError } from '../options/exit-codes.ts';
import { showLine } from '../progress/line-in-place.ts';

/** `perilbook data get NAME…`: shows sizes and licences, asks, downloads, loads. */
export const getAction: DataAction<Flags<'data get'>> = async (context, settings, names, flags) => {
  if (names.length === 0) {
    const hint =
      'For example: perilbook data get natural --for FILE. perilbook data lists the sources.';
    throw usageError('Missing argument: topics, sources, natural or all', hint);
  }
  const area =
    flags.for === undefined
      ? { states: parseStates(flags.states) }
      : await areaOfFile(context, flags.for);
  return await getData(context, settings, names, area, flags);
};

/** Lists the sources for some names, asks, downloads and loads them.
 * @param area its states are null for the whole US; its tiles are left out where no locations were named
 * @throws PerilbookError NEEDS_APPROVAL without a terminal and without --yes; INTERRUPTED after a no, or when the download is stopped */
export async function getData(
  context: CliContext,
  settings: DataSettings,
  names: readonly string[],
  {
    states,
    tiles,
  }: { readonly states: readonly string[] | null } & Partial<Pick<LocationsArea, 'tiles'>>,
  flags: Flags<'data get'>,
): Promise<ExitCode> {
  const { sources, along, leftOut } = chooseSources(names, states !== null, settings.sources);
  for (const { source, reason } of leftOut)
    say(context, `Without ${source.name}: ${reason}.`, 'warning');
  const all = wantedSources(sources, states, settings, tiles);
  const lacking = all.flatMap(({ lacking }) => lacking ?? []);
  // A copy without anything that was asked for is the wrong folder.
  if (lacking.length > 0 && lacking.length === all.length) throw lacking[0];
  const wanted = all.filter(({ slices, lacking }) => slices.length > 0 || lacking !== undefined);
  for (const { source } of all.filter((one) => !wanted.includes(one))) {
    const note = source.note === undefined ? '' : ` ${source.note}`;
    say(
      context,
      `Without ${source.name}: it is not published for ${states!.join(', ')}.${note}`,
      'warning',
    );
  }
  if (wanted.length === 0 && !flags['dry-run'] && !flags.json) return undefined;
  const there = wanted.filter(({ lacking }) => lacking === undefined);
  const lines = downloadPlanMessages(there, states, settings.mirror ?? settings.copy);
  if (flags['dry-run'])
    return void printResult(context, flags, downloadPlanJson(there, states), () => lines);
  // Without --yes the plan is what the user approves: --quiet does not hide it.
  say({ ...context, isQuiet: flags.quiet === true && flags.yes === true }, lines.join('\n'));
  makeFolder(settings.downloads);
  // Twice, because the data file needs space too. Each file is checked again when its size is known.
  refuseFullDisk(join(settings.downloads, 'The download'), 2 * estimatedBytes(wanted), freeBytes);
  if (!flags.yes) {
    await requireApproval(context, {
      question: `Download ${sizeOfAll(wanted)}?`,
      unapproved: 'Nothing was downloaded: without a terminal it needs --yes',
      approve: 'Add --yes to download what is listed above.',
      refused: 'Nothing was downloaded',
      later: 'Run again when you want to.',
    });
  }
  return await obtainAndLoad(context, settings, wanted, flags, along);
}

/** `perilbook data update [NAME…]`: downloads and loads what changed. */
export const updateAction: DataAction<Flags<'data update'>> = async (
  context,
  settings,
  names,
  flags,
) => {
  const { sources, downloads } = settings;
  const chosen = names.length === 0 ? sources : chooseSources(names, true, sources).sources;
  const wanted = downloadedSources(chosen, downloads);
  if (wanted.length === 0) {
    const hint = 'For example: perilbook data get natural --for FILE';
    throw usageError('Nothing to update: no data was downloaded yet', hint);
  }
  return await obtainAndLoad(context, settings, wanted, flags);
};

async function obtainAndLoad(
  context: CliContext,
  settings: DataSettings,
  wanted: readonly WantedSource[],
  flags: Flags<'data get'>,
  along: ReadonlySet<string> = new Set(),
): Promise<ExitCode> {
  const outcomes = await updateSources(
    context,
    settings,
    wanted,
    flags.replace === true,
    (outcome) => {
      const { error, loaded, without = [] } = outcome;
      const hasNothing = without.length > 0 && (loaded?.records ?? 0) === 0;
      if (flags.json) return;
      const lines = sourceOutcomeMessages(outcome);
      if (lines.length > 0) say(context, lines.join('\n'), hasNothing ? 'warning' : 'info');
      if (!(error instanceof PerilbookError)) return;
      const color = colorFor(context, context.stderr);
      const level = along.has(outcome.source.name) ? 'warning' : 'error';
      say(context, sourceErrorMessage(outcome, error, color), level);
    },
  );
  if (flags.json) sayJson(context, sourceOutcomesJson(outcomes));
  noteSample(context, settings);
  const failures = outcomes.filter(({ error }) => error !== undefined);
  const [failed] = failures.filter(({ source }) => !along.has(source.name));
  // What came along with what was asked for is a warning.
  const unnamed = failures.flatMap(({ source }) => (along.has(source.name) ? [source.name] : []));
  if (unnamed.length > 0) {
    const which = `${unnamed.join(', ')} ${unnamed.length === 1 ? 'was' : 'were'}`;
    say(context, `${which} not named: what was named needs the boundaries.`, 'warning');
  }
  return failed && exitCodeOfError(failed.error);
}

function noteSample(context: CliContext, { open, file }: DataSettings): void {
  const made = describeData(open()).datasets.filter(({ sample }) => sample);
  if (made.length === 0) return;
  const names = made.map(({ name }) => name).join(', ');
  const alone = 'For real data alone: --db NEW.db, or data get all.';
  say(context, `${file} also holds sample data (made up): ${names}. ${alone}`);
}

/** The downloaded sources, each with its downloaded slices and their tiles. */
export function downloadedSources(sources: readonly Source[], downloads: string): WantedSource[] {
  return sources
    .map((source) => {
      const manifest = readManifest(join(downloads, source.name));
      const here = [...new Set([...manifest.keys()].map(sliceOfKey))];
      // A source that was published by state may be one file now.
      const tiles = here.flatMap((slice) => {
        const of = manifest.get(slice)?.tiles;
        return of === undefined ? [] : [[slice, of.map(boxOfBounds)] as const];
      });
      const slices = here.length === 0 ? [] : listSlices(source, here, manifest);
      return { source, slices, ...(tiles.length > 0 && { tiles: new Map(tiles) }) };
    })
    .filter(({ slices }) => slices.length > 0);
}

/** Downloads what changed, and loads each source when it is complete. A source that fails keeps its old data and does not stop the others.
 * @throws PerilbookError INTERRUPTED when the context's signal aborts; USAGE when another process downloads */
async function updateSources(
  context: CliContext,
  settings: DataSettings,
  wanted: readonly WantedSource[],
  replace: boolean,
  onOutcome: (outcome: SourceOutcome) => void,
): Promise<SourceOutcome[]> {
  const { interrupt: signal, env } = context;
  makeFolder(settings.downloads);
  const unlock = lockDownloads(settings.downloads, context.owner);
  const client = clientFor(context, settings);
  const rate = createTransferRate(
    wanted.some(({ source }) => source.isElsewhere) ? null : estimatedBytes(wanted),
  );
  const show = showLine(context);
  const download: DownloadContext = {
    clock: context.clock,
    random: context.random,
    signal,
    client,
    freeBytes,
    onBytes(file, bytes) {
      rate.see(file, bytes, steadyTime(context.clock));
      show.line(() => transferMessage(rate.read()));
    },
    onWait: (reason, waitMs, tookMs) => {
      if (waitMs + tookMs < LONG_WAIT_MS) return;
      show.say(`${askedAddress(reason, client)}. Trying again in ${Math.round(waitMs / 1_000)} s.`);
    },
  };
  try {
    const outcomes = await obtainSources(wanted, settings, env, download, async (obtained) => {
      const outcome = await load(context, settings, obtained, replace, show.line);
      show.end();
      onOutcome(outcome);
      return outcome;
    });
    signal.throwIfAborted();
    return outcomes;
  } catch (error) {
    if (!signal.aborted) throw error;
    const hint = 'Run the same command again: it resumes where it stopped. What is loaded stays.';
    throw new PerilbookError('INTERRUPTED', 'The download was interrupted', hint);
  } finally {
    show.end();
    await client.close();
    unlock();
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileSystemError(error, folder);
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The client for downloads, which names this program and the user's contact to publishers. */
export function clientFor(
  { env, version = '0' }: CliContext,
  { contact, mirror, own }: DataSettings,
): WebClient {
  const userAgent = `perilbook/${version}${contact === undefined ? '' : ` (+${contact})`}`;
  return createWebClient({ userAgent, env, mirror, own });
}

const LONG_WAIT_MS = 5_000;

/** Loads the downloaded slices that the data file lacks, even if other slices failed. */
async function load(
  context: CliContext,
  { sources, downloads, open }: DataSettings,
  obtained: ObtainedSource,
  replace: boolean,
  showLoading: (text: () => string) => void,
): Promise<SourceOutcome> {
  const { source } = obtained;
  const database = open();
  const slices = unloadedSlices(database, source.name, readManifest(join(downloads, source.name)));
  if (slices.length === 0) return obtained;
  const rivals = sources.filter(
    ({ name, replaces }) => replaces === source.name || source.replaces === name,
  );
  try {
    const onRecords = (records: number) =>
      showLoading(() => `${source.name}: ${counted(records, 'record')} loaded …`);
    const files = { downloads, rivals };
    const options = { replace, onRecords };
    const { loaded, without, error } = await loadDownloads(
      database,
      source,
      slices,
      files,
      options,
      context.clock,
    );
    const failed = obtained.error ?? error;
    return {
      ...obtained,
      without,
      ...(loaded && { loaded }),
      ...(failed === undefined ? {} : { error: failed }),
    };
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    return { ...obtained, error: obtained.error ?? error };
  }
}
