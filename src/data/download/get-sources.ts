import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import { PerilbookError } from '../../base/errors.ts';
import { counted, grouped } from '../../base/format-numbers.ts';
import { readSecretFile } from '../../base/pipes.ts';
import { shownAddress } from '../../base/shown-address.ts';
import { FEWEST_COMPARED, isLoss } from '../loaders/load-losses.ts';
import { isPublishedFor, type OtherAddress, type Source } from '../sources/source.ts';
import { type AskedPart, WHOLE_US } from '../tables/parts.ts';
import { copiedSlices, copySlice } from './copy-source.ts';
import { downloadFailed, fileSystemError, mayTryAgain } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import { type Manifest, readManifest } from './downloads-folder.ts';
import { fetchSlice } from './fetch-source.ts';
import type { PlaceTiles } from './place-tiles.ts';
import {
  ageWarnings,
  type ProbedSource,
  probeParts,
  probeSource,
  probeUnits,
} from './probe-source.ts';
import { isByState, listSlices, type Slice, sliceOfKey, staleAfterMs } from './source-requests.ts';
import { askedOfMirror } from './web-client.ts';

export interface WantedSource {
  readonly source: Source;
  readonly slices: readonly Slice[];
  /** The tiles of each slice, if only what lies around locations is wanted. */
  readonly tiles?: PlaceTiles;
  /** The copy of a downloads folder does not have it. */
  readonly lacking?: PerilbookError;
}

export interface ObtainedSource extends WantedSource {
  readonly newFiles: number;
  /** When a layer without an edit date is read again, in milliseconds since the epoch; left out for others. */
  readonly againAt?: number;
  readonly missing?: readonly Slice[];
  readonly error?: unknown;
}

export interface SourceFolders {
  readonly downloads: string;
  /** A copy of another machine's downloads folder, used instead of the agencies. */
  readonly copy?: string;
}

/** Those that may hold a key. */
type KeyVariables = Readonly<Record<string, string | undefined>>;

/** Concurrent sources; the web client limits the requests. */
const SOURCES_AT_ONCE = 4;

export interface CheckedSource {
  readonly source: Source;
  readonly probed: readonly ProbedSource[];
  readonly error?: PerilbookError;
  /** Missing columns, far fewer rows than expected or than loaded, or old data. */
  readonly warnings: readonly string[];
  /** The second addresses that do not answer as they should, each with the reason; nothing is lost as long as the first does. */
  readonly away: readonly string[];
}

/** Checks sources concurrently: that they exist, their format, their age by their cadence, and whether they are newer than the downloads. */
export async function checkSources(
  sources: readonly Source[],
  downloads: string,
  partsOf: PartsOfSource,
  env: KeyVariables,
  context: DownloadContext,
): Promise<CheckedSource[]> {
  const limit = pLimit(SOURCES_AT_ONCE);
  return await Promise.all(
    sources.map((source) =>
      limit(async (): Promise<CheckedSource> => {
        context.signal.throwIfAborted();
        try {
          const headers = keyHeaders(source, env, context.client.mirror);
          const probed = await probeSource(source, context, headers);
          const rows = probed.reduce((sum, probe) => sum + (probe.rows ?? 0), 0);
          const { rows: usual, least = 0 } = source;
          const isFew = usual === undefined ? rows < least : isLoss(usual, rows);
          const isSmall = source.download.kind === 'layer' && isFew;
          const expected = usual === undefined ? `at least ${least}` : `about ${usual}`;
          const warning = `it has ${rows} rows, and ${expected} were expected`;
          const manifest = readManifest(join(downloads, source.name));
          const aged = ageWarnings(source, probed, manifest, context.clock.now());
          const lacking = [...new Set(probed.flatMap((probe) => probe.lacking ?? []))];
          const elsewhere = probed.filter((probe) => probe.isElsewhere);
          const parts = await probeParts(
            source,
            rowsByState(source, manifest, partsOf(source.name)),
            context,
            headers,
          );
          const gone = await probeUnits(source, partsOf(source.name), context);
          const lost = parts.filter((part) => isFewer(part.here, part.rows));
          const warnings = [
            ...(isSmall ? [warning] : []),
            ...elsewhere.map(({ url }) => `none of the first rows of ${url} is in the US`),
            ...(lacking.length > 0 ? [`it has no column ${lacking.join(', ')}`] : []),
            ...lost.map(({ state, here, rows: now }) =>
              source.download.kind === 'file'
                ? `the file of ${state} is gone (${shownAddress(manifest.get(state)!.url)})`
                : `${state} has ${counted(now, 'row')}; ${grouped(here)} are loaded`,
            ),
            ...gone.map(
              ({ name, state, rows: here }) =>
                `${name} of ${state} is gone; ${counted(here, 'record')} of it are loaded`,
            ),
            ...aged,
          ];
          return { source, probed, warnings, away: await awayAddresses(source, env, context) };
        } catch (error) {
          context.signal.throwIfAborted();
          if (!(error instanceof PerilbookError)) throw error;
          return {
            source,
            probed: [],
            warnings: [],
            away: [],
            error: askedOfMirror(error, context.client),
          };
        }
      }),
    ),
  );
}

/** Whether a file is gone, or a tenth of a state's rows: a county may be. A state of a few rows may lose some by chance. */
const isFewer = (here: number, now: number): boolean =>
  isLoss(here, now) || (here - now >= FEWEST_COMPARED && 10 * now < 9 * here);

async function awayAddresses(
  source: Source,
  env: KeyVariables,
  context: DownloadContext,
): Promise<string[]> {
  const away: string[] = [];
  for (const other of othersOf(source, env)) {
    try {
      const next = { ...source, ...other };
      await probeSource(next, context, keyHeaders(next, env, context.client.mirror));
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof PerilbookError)) throw error;
      away.push(`its second address, ${other.from}, fails: ${error.message}`);
    }
  }
  return away;
}

/** The loaded parts of a source. */
export type PartsOfSource = (source: string) => readonly AskedPart[];

/** The rows of each downloaded state. A row may be several records, so those of a state within the whole US are estimated in proportion. */
function rowsByState(
  source: Source,
  manifest: Manifest,
  parts: readonly AskedPart[],
): ReadonlyMap<string, number> {
  const { download } = source;
  const rows = new Map<string, number>();
  for (const [key, { count }] of manifest) {
    const slice = sliceOfKey(key);
    if (slice === 'US') continue;
    if (download.kind === 'file') rows.set(slice, 1);
    else if (count !== undefined) rows.set(slice, (rows.get(slice) ?? 0) + count);
  }
  const isFiltered =
    download.kind === 'layer' && download.stateWhere !== undefined && download.stateWhere !== 'box';
  const all = manifest.get('US')?.count;
  if (all === undefined || !isFiltered) return rows;
  const whole = parts.find(({ state }) => state === WHOLE_US);
  const records = Object.entries(whole?.stateRows ?? {});
  const total = records.reduce((sum, [, count]) => sum + count, 0);
  for (const [state, count] of records) {
    const own = Math.round((all * count) / total);
    if (own >= FEWEST_COMPARED) rows.set(state, own);
  }
  return rows;
}

/** The slices to download for some states; null for the whole US. @param tiles the tiles of a file's locations */
export function wantedSources(
  sources: readonly Source[],
  states: readonly string[] | null,
  { downloads, copy }: SourceFolders,
  tiles?: PlaceTiles,
): WantedSource[] {
  return sources.map((source) => {
    if (copy !== undefined) {
      const slices = copiedSlices(source, copy, states);
      return slices instanceof PerilbookError
        ? { source, slices: [], lacking: slices }
        : { source, slices };
    }
    const manifest = readManifest(join(downloads, source.name));
    const isAroundPlaces =
      source.download.kind === 'layer' && source.download.aroundPlaces !== undefined;
    if (tiles === undefined || !isAroundPlaces)
      return { source, slices: listSlices(source, states, manifest) };
    return { source, slices: listSlices(source, [...tiles.keys()], manifest), tiles };
  });
}

/** Downloads sources concurrently, and gives each to `use` when it is complete, one at a time. A failure does not stop the other sources;
 * an abort stops all when `use` has returned. */
export async function obtainSources<T extends Pick<ObtainedSource, 'error' | 'missing'>>(
  wanted: readonly WantedSource[],
  folders: SourceFolders,
  env: KeyVariables,
  context: DownloadContext,
  use: (obtained: ObtainedSource) => Promise<T>,
): Promise<T[]> {
  const [downloading, using] = [pLimit(SOURCES_AT_ONCE), pLimit(1)];
  const inTurn = async <R>(limit: LimitFunction, work: () => Promise<R>) =>
    await limit(async () => {
      context.signal.throwIfAborted();
      return await work();
    });
  const results = await Promise.allSettled(
    wanted.map(async (first) => {
      let refused: T | undefined;
      for (let next = first; ; ) {
        const obtained = await inTurn(downloading, () => obtain(next, folders, env, context));
        const outcome = await inTurn(using, () => use(obtained));
        const other =
          folders.copy === undefined && outcome.error !== undefined
            ? orElse(next, outcome, env)
            : null;
        // What the publisher's own address said comes before what its copies say.
        if (outcome.error !== undefined) refused ??= outcome;
        if (other === null) return outcome.error === undefined ? outcome : refused!;
        next = other;
      }
    }),
  );
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** The second addresses of a source; one that needs a key only where there is one. */
const othersOf = (source: Source, env: KeyVariables): readonly OtherAddress[] =>
  (source.else ?? []).filter(
    ({ keyVariable }) => keyVariable === undefined || Boolean(env[keyVariable]),
  );

/** The next address for what is missing or was refused; null after the last. One with the whole US alone would replace other states. */
function orElse(
  { source, slices, tiles }: WantedSource,
  { missing = slices }: Pick<ObtainedSource, 'missing'>,
  env: KeyVariables,
): WantedSource | null {
  const [other, ...others] = othersOf(source, env);
  if (other === undefined) return null;
  const isWhole = !isByState(other) && missing.length === slices.length;
  const left = isWhole
    ? ['US']
    : missing.filter((slice) => slice === 'US' || isPublishedFor(other.download, slice));
  const next = {
    source: { ...source, ...other, else: others },
    slices: left,
    ...(tiles && { tiles }),
  };
  return left.length > 0 && (isWhole || left.includes('US') || isByState(other))
    ? next
    : orElse({ ...next, slices }, { missing }, env);
}

/** Of states in turn that fail although they may come later: each took six attempts. */
const MOST_DOWN = 2;

async function obtain(
  wanted: WantedSource,
  { downloads, copy }: SourceFolders,
  env: KeyVariables,
  context: DownloadContext,
): Promise<ObtainedSource> {
  const { source, slices, tiles, lacking } = wanted;
  if (lacking !== undefined) return { ...wanted, newFiles: 0, error: lacking };
  const folder = join(downloads, source.name);
  const missing: Slice[] = [];
  let newFiles = 0;
  let first: PerilbookError | undefined;
  let down = 0;
  // States are downloaded in turn: they come from one server. One that is down is not asked for each of them.
  for (const slice of slices) {
    try {
      if (down >= MOST_DOWN) throw first;
      const headers = copy === undefined ? keyHeaders(source, env, context.client.mirror) : {};
      newFiles +=
        copy === undefined
          ? await fetchSlice(source, slice, folder, context, headers, tiles?.get(slice))
          : await copySlice(source, slice, copy, folder);
      down = 0;
    } catch (error) {
      context.signal.throwIfAborted();
      const fileError = fileSystemError(error, folder);
      if (!(fileError instanceof PerilbookError)) throw error;
      if (mayTryAgain(fileError)) down += 1;
      missing.push(slice);
      first ??= fileError;
    }
  }
  if (first === undefined) {
    const againAt = copy === undefined ? undatedUntil(source, slices, folder) : null;
    return { ...wanted, newFiles, ...(againAt !== null && { againAt }) };
  }
  const { code, message, hint, context: facts } = askedOfMirror(first, context.client);
  const states = slices.length > 1 ? `. Not downloaded: ${missing.join(', ')}` : '';
  return {
    ...wanted,
    newFiles,
    missing,
    error: new PerilbookError(code, `${message}${states}`, hint, facts, first),
  };
}

/** When the oldest file of a layer without an edit date is read again; null for other sources. */
function undatedUntil(source: Source, slices: readonly Slice[], folder: string): number | null {
  if (source.download.kind !== 'layer') return null;
  const undated = [...readManifest(folder)].flatMap(([key, { edited, fetchedAt }]) =>
    edited === undefined && slices.includes(sliceOfKey(key)) ? [fetchedAt] : [],
  );
  return undated.length === 0 ? null : Math.min(...undated) + staleAfterMs(source);
}

/** The header with the key, for the agency alone, or for the address that was given with `key_file`; the key is in no address. */
function keyHeaders(
  { download, isElsewhere, keyVariable, keyFile, note = '' }: Source,
  env: KeyVariables,
  mirror: string | undefined,
): Record<string, string> {
  if (keyVariable === undefined || download.kind !== 'file' || download.keyHeader === undefined)
    return {};
  if (isElsewhere ? keyFile === undefined : mirror !== undefined) return {};
  const key = keyFile === undefined ? env[keyVariable]?.trim() : keyIn(keyFile);
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return { [download.keyHeader]: key };
  const keySource =
    keyFile === undefined ? `the environment variable ${keyVariable}` : `the file "${keyFile}"`;
  const problem = key ? 'holds characters that no key has' : 'holds none';
  throw downloadFailed(`An API key is needed, and ${keySource} ${problem}`, note);
}

function keyIn(file: string): string {
  try {
    return readSecretFile(file).trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = 'Check key_file in sources.yaml.';
    throw downloadFailed(`Cannot read the key file "${file}": ${reason}`, hint, null, error);
  }
}
