import { isoDay } from '../../base/format-numbers.ts';
import { type ShownAddress, shownAddress } from '../../base/shown-address.ts';
import { type Box, boxOfGeometry } from '../../geo/bounding-boxes.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { findColumns } from '../loaders/agency-table.ts';
import { loaderNamed } from '../loaders/loader-table.ts';
import { vintageByColumns } from '../loaders/vintages.ts';
import type { Source } from '../sources/source.ts';
import type { AskedPart } from '../tables/parts.ts';
import { unitsOf } from '../tables/published-units.ts';
import { missingFile } from './download-errors.ts';
import { type DownloadContext, type FileRequest, probeFile } from './download-file.ts';
import { probeSpans } from './download-spans.ts';
import type { Manifest } from './downloads-folder.ts';
import { fetchCount, fetchValues } from './layer-queries.ts';
import type { LayerRequest } from './layer-request.ts';
import { probeLayer } from './probe-layer.ts';
import { datedRequests, fileRequests, layerRequests } from './source-requests.ts';

export interface ProbedSource {
  readonly rows?: number;
  /** The vintage of a layer's newest row, where rows have a time. */
  readonly newest?: string;
  /** The box of a layer's first rows; null when they have no geometry in degrees. */
  readonly box?: Box | null;
  /** None of the first rows is in the US. */
  readonly isElsewhere?: boolean;
  readonly changedAt?: number | undefined;
  readonly url: ShownAddress;
  readonly lacking?: readonly string[];
}

/** Counts the rows of a layer by state, or the files of states. @param parts the states with the number of their stored rows; 1 for a file */
export async function probeParts(
  source: Source,
  parts: ReadonlyMap<string, number>,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly state: string; readonly here: number; readonly rows: number }[]> {
  const { download, firstLine } = source;
  const probed: { readonly state: string; readonly here: number; readonly rows: number }[] = [];
  for (const [state, here] of parts) {
    let rows = 0;
    if (download.kind === 'file') {
      const requests = datedRequests(download, 0, state, '', context.clock.now());
      rows = (await probeNewest(requests, { headers, firstLine }, context)) === null ? 0 : 1;
    } else if (download.kind === 'layer') {
      for (const request of layerRequests(source, download, state, '', context.clock.now())) {
        rows += await fetchCount({ ...request, mayBeEmpty: true }, context);
      }
    }
    probed.push({ state, here, rows });
  }
  return probed;
}

/** The units of loaded parts that a layer has no longer, where it names them: a study may go, and others have as many rows more. */
export async function probeUnits(
  source: Source,
  parts: readonly AskedPart[],
  context: DownloadContext,
): Promise<{ readonly name: string; readonly state: string; readonly rows: number }[]> {
  const { download } = source;
  if (download.kind !== 'layer' || download.unit === undefined) return [];
  const gone: { readonly name: string; readonly state: string; readonly rows: number }[] = [];
  for (const { dataset, state, units } of parts) {
    const [request] = layerRequests(source, download, state, '', context.clock.now());
    const published = await fetchValues(request!, download.unit, context);
    if (published === null) continue;
    for (const [unit, { rows }] of Object.entries(units)) {
      if (!published.has(unit))
        gone.push({ name: `${unitsOf(dataset)?.noun.one} ${unit}`, state, rows });
    }
  }
  return gone;
}

async function probeNewest(
  requests: readonly Pick<FileRequest, 'url' | 'target'>[],
  expected: Pick<FileRequest, 'headers' | 'firstLine'>,
  context: DownloadContext,
): Promise<ProbedSource | null> {
  for (const request of requests) {
    const file = await probeFile({ ...request, ...expected, mostBytes: 0 }, context);
    if (file === null) continue;
    const changedAt = Date.parse(file.lastModified ?? '');
    return {
      url: shownAddress(request.url),
      changedAt: Number.isNaN(changedAt) ? undefined : changedAt,
    };
  }
  return null;
}

/** Checks that a source exists and has the expected format; downloads nothing.
 * @throws PerilbookError DOWNLOAD_FAILED when it moved, changed its form, or cannot be reached */
export async function probeSource(
  source: Source,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
): Promise<ProbedSource[]> {
  const { download, firstLine } = source;
  const probed: ProbedSource[] = [];
  switch (download.kind) {
    case 'file':
    case 'linked':
      for (const requests of await fileRequests(download, 'US', '', context)) {
        const newest = await probeNewest(requests, { headers, firstLine }, context);
        if (newest === null) throw missingFile(requests);
        probed.push(newest);
      }
      return probed;
    case 'layer': {
      const slices = typeof download.layer === 'string' ? ['US'] : Object.keys(download.layer);
      for (const slice of slices) {
        for (const [index, request] of layerRequests(
          source,
          download,
          slice,
          '',
          context.clock.now(),
        ).entries()) {
          probed.push(await probeRows(source, request, index === 0, context));
        }
      }
      return probed;
    }
    case 'spans':
      // Without the query, because its placeholders are no valid request.
      return [
        {
          url: shownAddress(download.countUrl.split('?')[0]!),
          rows: await probeSpans(download, context),
        },
      ];
  }
}

/** The rows of one layer: their number, the newest, and where the first ones are. @param isFirst further layers need no columns */
async function probeRows(
  source: Source,
  request: LayerRequest,
  isFirst: boolean,
  context: DownloadContext,
): Promise<ProbedSource> {
  const times = loaderNamed(source.loader).vintage;
  const timeIn = (fields: readonly string[]) =>
    (times && fields[findColumns(fields, '').find(...times.names)]) ?? null;
  const { count, edited, fields, features, newest } = await probeLayer(request, timeIn, context);
  const vintage = vintageByColumns(times);
  if (times !== undefined) vintage.see({ [times.names[0]!]: newest });
  const { find } = findColumns(fields, request.layer);
  const lacking = isFirst ? neededColumns(source).filter((names) => find(...names) < 0) : [];
  return {
    url: shownAddress(request.layer),
    rows: count,
    changedAt: edited ?? undefined,
    ...(vintage.text() === '' ? {} : { newest: vintage.text() }),
    ...(request.as === 'csv' ? {} : placesOf(features.map(({ geometry }) => geometry))),
    lacking: lacking.map((names) => names.join(' or ')),
  };
}

function placesOf(all: readonly unknown[]): Pick<ProbedSource, 'box' | 'isElsewhere'> {
  const drawn = all.filter((geometry) => boxOfGeometry(geometry) !== null);
  const corners = drawn.map((geometry) => boxOfGeometry(geometry)!);
  const isInUs = corners.some(({ minLat, minLng }) => isCovered({ lat: minLat, lng: minLng }));
  return {
    box: boxOfGeometry({ type: 'GeometryCollection', geometries: drawn }),
    isElsewhere: drawn.length > 0 && !isInUs,
  };
}

/** The columns that the loader needs, and that of the filter by state. */
function neededColumns({ columns = [], download }: Source): readonly (readonly string[])[] {
  const [state] = (download.kind === 'layer' && /^\w+(?==)/.exec(download.stateWhere ?? '')) || [];
  return state === undefined ? columns : [[state], ...columns];
}

const DAY_MS = 86_400_000;

/** Why a source counts as old, one sentence each; empty if it does not. */
export function ageWarnings(
  source: Source,
  probed: readonly ProbedSource[],
  manifest: Manifest,
  now: number,
): string[] {
  const { name, oldAfterDays, cadence } = source;
  const published = probed.map(({ changedAt, url }) => {
    const year = yearIn(source, url);
    // The data of a year is complete at its end.
    return monthOf(source, url) ?? changedAt ?? (year === null ? null : Date.UTC(year, 11, 31));
  });
  // The day on which a server changed a file is not that of its data.
  const isChange = probed.some(
    ({ changedAt, url }) => changedAt !== undefined && monthOf(source, url) === null,
  );
  const newest = published.includes(null) ? null : Math.max(...(published as number[]));
  const isOld =
    oldAfterDays !== undefined && newest !== null && newest < now - oldAfterDays * DAY_MS;
  return [
    ...(isOld
      ? [
          `its ${isChange ? 'last change' : 'newest data'} is of ${isoDay(newest)}, and it is published ${cadence}`,
        ]
      : []),
    ...(isOutdated(source, probed, manifest, now)
      ? [`newer data is published: run perilbook data update ${name}`]
      : []),
  ];
}

/** The month of the data in the name of a file: august_generator2026.xlsx; '' for none. */
export function monthText({ loader }: Source, url: string): string {
  return loaderNamed(loader).vintageOfName?.(url.split('/').at(-1) ?? '') ?? '';
}

/** The end of that month, in milliseconds since the epoch. */
function monthOf(source: Source, url: string): number | null {
  const text = monthText(source, url);
  if (text === '') return null;
  const first = new Date(`1 ${text} UTC`);
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0);
}

/** Whether newer data is published than was downloaded. At the same address the dates are compared, at different ones the years. */
function isOutdated(
  source: Source,
  probed: readonly ProbedSource[],
  manifest: Manifest,
  now: number,
): boolean {
  if (source.isNearRealTime) return false;
  return [...manifest.values()].some(({ url: kept, edited, lastModified }) => {
    const url = shownAddress(kept);
    const here = edited ?? Date.parse(lastModified ?? '');
    const year = yearIn(source, url);
    return probed.some((probe) => {
      const isSame =
        source.download.kind === 'layer'
          ? url.startsWith(probe.url.split('?')[0]!)
          : url === probe.url;
      if (isSame) return probe.changedAt !== undefined && here < probe.changedAt;
      const published = yearIn(source, probe.url);
      // A year that is published before its end is complete in June of the next one.
      const isEarly = source.download.kind === 'file' && source.download.isWholeYear !== undefined;
      if (published !== null && isEarly && now < Date.UTC(published + 1, 5)) return false;
      return year !== null && published !== null && year < published;
    });
  });
}

/** The year of the data in an address of a source, or null. */
export function yearIn({ download }: Source, url: ShownAddress): number | null {
  const patterns =
    download.kind === 'file'
      ? download.files.flatMap((file) => [file.url, file.stateUrl ?? []].flat()).map(makePattern)
      : download.kind === 'linked'
        ? download.links.map((link) => new RegExp(`(?:^|/)${link}$`))
        : [];
  const [year] = patterns.flatMap((pattern) => pattern.exec(url)?.[1] ?? []);
  return year === undefined ? null : Number(year);
}

/** The pattern of an address, with {year} as its first group. */
function makePattern(address: string): RegExp {
  const [before = '', ...after] = shownAddress(address)
    .split('{year}')
    .map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+'));
  return new RegExp(`^${[before, ...after].join('(\\d{4})')}$`);
}
