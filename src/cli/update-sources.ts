import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { steadyTime } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { counted } from '../base/format-numbers.ts';
import { fileSystemError } from '../data/download/download-errors.ts';
import type { DownloadContext } from '../data/download/download-file.ts';
import { lockDownloads, readManifest } from '../data/download/downloads-folder.ts';
import { type ObtainedSource, obtainSources, type WantedSource } from '../data/download/get-sources.ts';
import { loadDownloads, unloadedSlices } from '../data/download/load-downloads.ts';
import { boxOfBounds } from '../data/download/place-tiles.ts';
import { listSlices, sliceOfKey } from '../data/download/source-requests.ts';
import { createTransferRate } from '../data/download/transfer-rate.ts';
import { askedAddress, createWebClient, type WebClient } from '../data/download/web-client.ts';
import type { Source } from '../data/sources/source.ts';
import type { CliContext } from './context.ts';
import type { DataSettings } from './data-settings.ts';
import { estimatedBytes, type SourceOutcome, transferMessage } from './messages/download-messages.ts';
import { showLine } from './progress/line-in-place.ts';

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
export async function updateSources(
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
  const rate = createTransferRate(wanted.some(({ source }) => source.isElsewhere) ? null : estimatedBytes(wanted));
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

export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileSystemError(error, folder);
  }
}

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The web client with this program's User-Agent. */
export function clientFor(
  { env, version = '0' }: CliContext,
  { contact, mirror, own }: Pick<DataSettings, 'contact' | 'mirror' | 'own'>,
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
  const rivals = sources.filter(({ name, replaces }) => replaces === source.name || source.replaces === name);
  try {
    const onRecords = (records: number) => showLoading(() => `${source.name}: ${counted(records, 'record')} loaded …`);
    const options = { replace, onRecords };
    const { loaded, without, error } = await loadDownloads(
      database,
      source,
      slices,
      { downloads, rivals },
      options,
      context.clock,
    );
    const failed = obtained.error ?? error;
    return { ...obtained, without, ...(loaded && { loaded }), ...(failed === undefined ? {} : { error: failed }) };
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    return { ...obtained, error: obtained.error ?? error };
  }
}
