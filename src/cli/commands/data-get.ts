import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { steadyTime } from '../../clock.ts';
import { fileSystemError, refuseFullDisk } from '../../data/download/disk-space.ts';
import type { DownloadContext } from '../../data/download/download-file.ts';
import { lockDownloads } from '../../data/download/downloads-lock.ts';
import {
  type ObtainedSource,
  obtainSources,
  type WantedSource,
  wantedSources,
} from '../../data/download/get-sources.ts';
import { loadDownloads, unloadedSlices } from '../../data/download/load-downloads.ts';
import { readManifest } from '../../data/download/manifest.ts';
import { sliceOfKey } from '../../data/download/source-requests.ts';
import { createTransferRate } from '../../data/download/transfer-rate.ts';
import { createWebClient, type WebClient } from '../../data/download/web-client.ts';
import type { Source } from '../../data/sources/source.ts';
import { chooseSources } from '../../data/sources/source-table.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../format-numbers.ts';
import { askYes, canAsk } from '../ask-yes.ts';
import type { Flags } from '../command.ts';
import { type CliContext, say, sayJson } from '../context.ts';
import type { DataSettings } from '../data-settings.ts';
import { EXIT, exitCodeOfError } from '../exit-codes.ts';
import { downloadPlanJson, downloadPlanWords, estimatedBytes, transferWords } from '../messages/download-words.ts';
import { byteSize } from '../messages/format.ts';
import { type SourceOutcome, sourceOutcomesJson, sourceOutcomeWords } from '../messages/source-outcomes.ts';
import { showLine } from '../progress/one-line.ts';
import { statesOfFile, statesSaid } from '../states-of-file.ts';

/** `perilbook data get NAME…`: shows sizes and licences, asks, downloads, loads. */
export async function getAction(
  context: CliContext,
  surroundings: DataSettings,
  names: readonly string[],
  flags: Flags,
): Promise<number> {
  if (names.length === 0) {
    throw new PerilbookError(
      'USAGE',
      'Missing what to get: topics, sources, natural or all',
      'For example: perilbook data get natural --for FILE. perilbook data lists the sources.',
    );
  }
  const states = await statesWanted(context, flags);
  const { sources, leftOut } = chooseSources(names, states !== null, surroundings.sources);
  for (const { source, reason } of leftOut) say(context, `Without ${source.name}: ${reason}.`);
  const all = wantedSources(sources, states, surroundings);
  const wanted = all.filter(({ slices }) => slices.length > 0);
  for (const { source } of all.filter(({ slices }) => slices.length === 0)) {
    say(context, `Without ${source.name}: it is not published for ${states!.join(', ')}.`);
  }
  if (flags['dry-run']) {
    if (flags.json) sayJson(context, downloadPlanJson(wanted, states));
    else context.stdout.write(`${downloadPlanWords(wanted, states).join('\n')}\n`);
    return EXIT.complete;
  }
  // Without --yes the plan is what the user approves: --quiet does not hide it.
  say(
    { ...context, isQuiet: flags.quiet === true && flags.yes === true },
    downloadPlanWords(wanted, states).join('\n'),
  );
  makeFolder(surroundings.downloads);
  // Twice, because the data file needs space too. Each file is checked again when its size is known.
  refuseFullDisk(join(surroundings.downloads, 'The download'), 2 * estimatedBytes(wanted), freeBytes);
  await approve(context, wanted, flags);
  return await obtainAndLoad(context, surroundings, wanted, flags);
}

/** `perilbook data update [NAME…]`: downloads and loads what changed. */
export async function updateAction(
  context: CliContext,
  surroundings: DataSettings,
  names: readonly string[],
  flags: Flags,
): Promise<number> {
  const { sources, downloads } = surroundings;
  const chosen = names.length === 0 ? sources : chooseSources(names, true, sources).sources;
  const wanted = downloadedSources(chosen, downloads);
  if (wanted.length === 0) {
    throw new PerilbookError(
      'USAGE',
      'Nothing to update: no data was downloaded yet',
      'For example: perilbook data get natural --for FILE',
    );
  }
  return await obtainAndLoad(context, surroundings, wanted, flags);
}

/** The sources that were downloaded, with the slices that were. */
export function downloadedSources(sources: readonly Source[], downloads: string): WantedSource[] {
  return sources
    .map((source) => ({
      source,
      slices: [...new Set([...readManifest(join(downloads, source.name)).keys()].map(sliceOfKey))],
    }))
    .filter(({ slices }) => slices.length > 0);
}

async function statesWanted(context: CliContext, flags: Flags): Promise<readonly string[] | null> {
  const file = flags.for as string | undefined;
  if (file !== undefined) return await statesOfFile(context, file);
  return statesSaid(flags.states as string | undefined);
}

async function approve(context: CliContext, wanted: readonly WantedSource[], flags: Flags): Promise<void> {
  if (flags.yes) return;
  if (!canAsk(context)) {
    throw new PerilbookError(
      'NEEDS_APPROVAL',
      'Nothing was downloaded: nobody is here to be asked',
      'Say --yes to download what is listed above.',
    );
  }
  if (await askYes(context, `Download about ${byteSize(estimatedBytes(wanted))}?`)) return;
  throw new PerilbookError('INTERRUPTED', 'Nothing was downloaded', 'Run again when you want to.');
}

async function obtainAndLoad(
  context: CliContext,
  surroundings: DataSettings,
  wanted: readonly WantedSource[],
  flags: Flags,
): Promise<number> {
  const outcomes = await updateSources(context, surroundings, wanted, flags.replace === true, (outcome) => {
    const level = outcome.error === undefined ? 'info' : 'error';
    if (!flags.json) say(context, sourceOutcomeWords(outcome).join('\n'), level);
  });
  if (flags.json) sayJson(context, sourceOutcomesJson(outcomes));
  noteSample(context, surroundings);
  const [failed] = outcomes.filter(({ error }) => error !== undefined);
  return failed === undefined ? EXIT.complete : exitCodeOfError(failed.error);
}

/**
 * Downloads what changed and loads it, source by source. A source that fails keeps its old data and does not stop the
 * others.
 *
 * @throws PerilbookError INTERRUPTED when the context's signal aborts; USAGE when another process downloads
 */
export async function updateSources(
  context: CliContext,
  surroundings: DataSettings,
  wanted: readonly WantedSource[],
  replace: boolean,
  onOutcome: (outcome: SourceOutcome) => void,
): Promise<SourceOutcome[]> {
  const { downloads } = surroundings;
  makeFolder(downloads);
  const unlock = lockDownloads(downloads, context.owner);
  try {
    const obtained = await obtain(context, surroundings, wanted);
    const outcomes: SourceOutcome[] = [];
    for (const one of obtained) {
      const outcome = await load(context, surroundings, one, replace);
      onOutcome(outcome);
      outcomes.push(outcome);
      if (context.interrupt.aborted) throw interrupted();
    }
    return outcomes;
  } finally {
    unlock();
  }
}

async function obtain(
  context: CliContext,
  surroundings: DataSettings,
  wanted: readonly WantedSource[],
): Promise<ObtainedSource[]> {
  const { interrupt: signal, env } = context;
  const client = clientFor(context, surroundings);
  const rate = createTransferRate(estimatedBytes(wanted));
  const show = showLine(context);
  const download: DownloadContext = {
    ...{ clock: context.clock, random: context.random, signal, client, freeBytes },
    onBytes(file, bytes) {
      rate.see(file, bytes, steadyTime(context.clock));
      show.line(() => transferWords(rate.read()));
    },
    onWait: (reason, waitMs) => {
      if (waitMs >= LONG_WAIT_MS) show.say(`${reason}. Waiting ${Math.round(waitMs / 1_000)} s.`);
    },
  };
  try {
    return await obtainSources(wanted, surroundings, env, download);
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  } finally {
    show.end();
    await client.close();
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw fileSystemError(error, folder);
  }
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Warns about sample data beside real data. */
function noteSample(context: CliContext, { open, file }: DataSettings): void {
  const made = describeData(open()).datasets.filter(({ sample }) => sample);
  if (made.length === 0) return;
  say(
    context,
    `${file} also holds sample data (made up): ${made.map(({ name }) => name).join(', ')}. For real data alone: --db NEW.db, or data get all.`,
  );
}

/** The web client with this program's User-Agent. */
export function clientFor(
  { env, version = '0' }: CliContext,
  { contact, mirror }: Pick<DataSettings, 'contact' | 'mirror'>,
): WebClient {
  const userAgent = `perilbook/${version}${contact === undefined ? '' : ` (+${contact})`}`;
  return createWebClient({ userAgent, env, ...(mirror === undefined ? {} : { mirror }) });
}

const LONG_WAIT_MS = 5_000;

function interrupted(): PerilbookError {
  const hint = 'Run the same command again: it resumes where it stopped. The stored data is unchanged.';
  return new PerilbookError('INTERRUPTED', 'The download was interrupted', hint);
}

/** Loads the downloaded slices that the data file lacks, even if other slices failed. */
async function load(
  context: CliContext,
  { sources, downloads, open }: DataSettings,
  obtained: ObtainedSource,
  replace: boolean,
): Promise<SourceOutcome> {
  const { source } = obtained;
  const database = open();
  const slices = unloadedSlices(database, readManifest(join(downloads, source.name)));
  if (slices.length === 0) return obtained;
  const rivals = sources.filter(({ name, replaces }) => replaces === source.name || source.replaces === name);
  const show = showLine(context);
  try {
    const onRecords = (records: number) => show.line(() => `${source.name}: ${counted(records, 'record')} loaded …`);
    const options = { replace, onRecords };
    const loaded = await loadDownloads(database, source, slices, { downloads, rivals }, options, context.clock);
    return loaded === null ? obtained : { ...obtained, loaded };
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    return { ...obtained, error: obtained.error ?? error };
  } finally {
    show.end();
  }
}
