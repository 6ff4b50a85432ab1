import { join } from 'node:path';
import type { Box } from '../../geo/bounding-boxes.ts';
import {
  type FileDownload,
  isPublishedFor,
  type LayerDownload,
  type LinkedDownload,
  type Source,
} from '../sources/source.ts';
import { spellingsOf } from '../tables/states.ts';
import { boxesOfState } from '../tables/states-near.ts';
import { isSearched, SEARCH_RADII } from '../topics/coverage.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import type { DownloadContext, FileRequest } from './download-file.ts';
import type { Manifest } from './downloads-folder.ts';
import type { LayerRequest } from './layer-request.ts';
import { askedTiles } from './place-tiles.ts';
import { getText } from './web-client.ts';

/** The whole country, or a state as two letters. */
export type Slice = string;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Whether a state can be asked for alone. */
export function isByState({ download }: Pick<Source, 'download'>): boolean {
  switch (download.kind) {
    case 'file':
      return download.files.some(({ stateUrl }) => stateUrl !== undefined);
    case 'layer':
      return download.stateWhere !== undefined || typeof download.layer !== 'string';
    default:
      return false;
  }
}

/** The slices to download for some states; null for the whole US. */
export function listSlices(
  source: Source,
  states: readonly string[] | null,
  manifest: Manifest,
): Slice[] {
  const { download } = source;
  if (states === null || !isByState(source) || manifest.has('US')) return ['US'];
  return states.filter((state) => isPublishedFor(download, state));
}

/** The slice of a file, by its key in the manifest. */
export const sliceOfKey = (key: string): Slice => key.split('/')[0]!;

/** The name of a request of a slice; the first has that of the slice. */
export const keyOf = (slice: Slice, index: number): string =>
  index === 0 ? slice : `${slice}/${index + 1}`;
/** How long after a check a source is asked again. */
export const staleAfterMs = ({ staleAfterDays }: Source): number => staleAfterDays * DAY_MS;

/** The largest allowed size of a file. */
export function mostBytesOf({ bytes, mostBytes }: Source): number {
  return mostBytes ?? 4 * bytes + 64_000_000;
}

type RequestedFile = Pick<FileRequest, 'url' | 'target'>;

/** The possible addresses of each file of a source, newest first; reads the page that links to them. */
export async function fileRequests(
  download: FileDownload | LinkedDownload,
  slice: Slice,
  folder: string,
  context: DownloadContext,
): Promise<RequestedFile[][]> {
  if (download.kind === 'file') {
    return download.files.map((_, index) =>
      datedRequests(download, index, slice, folder, context.clock.now()),
    );
  }
  const html = await getText(download.page, context, 20_000_000);
  const urls = [
    ...download.links.map((pattern) => newestLink(html, download.page, pattern)),
    ...(download.more ?? []).flatMap((pattern) =>
      linksOf(html, download.page, pattern).slice(0, 1),
    ),
  ];
  return urls.map((url) => [{ url, target: join(folder, parseFileName(url)) }]);
}

/** The possible addresses of a file, newest first. */
export function datedRequests(
  download: FileDownload,
  index: number,
  slice: Slice,
  folder: string,
  now: number,
): RequestedFile[] {
  const { url: whole, stateUrl, name } = download.files[index]!;
  const pattern = slice === 'US' ? whole : (stateUrl ?? whole);
  const dates = /\{(year|date|hour)\}/.test(pattern) ? listDates(download, now) : [{}];
  return dates.map((date) => {
    const url = filled(pattern, slice, date);
    return {
      url,
      target: join(folder, name === undefined ? parseFileName(url) : filled(name, slice, date)),
    };
  });
}

function listDates(
  { years, hours }: FileDownload,
  now: number,
): Readonly<Record<string, string>>[] {
  if (hours !== undefined) {
    return Array.from({ length: hours + 1 }, (_, back) => {
      const hour = new Date(now - back * HOUR_MS).toISOString();
      const digits = hour.slice(0, 13).replace(/\D/g, '');
      return { year: digits.slice(0, 4), date: digits.slice(0, 8), hour: digits };
    });
  }
  const newest = new Date(now).getUTCFullYear() - (years?.newest ?? 0);
  const oldest = years?.oldest ?? newest;
  return Array.from({ length: Math.max(1, newest - oldest + 1) }, (_, back) => ({
    year: String(newest - back),
  }));
}

function filled(
  pattern: string,
  slice: Slice,
  date: Readonly<Record<string, string>> = {},
): string {
  const values: Readonly<Record<string, string>> = {
    slice,
    state: slice,
    st: slice.toLowerCase(),
    postalState: `US-${slice}`,
    ...spellingsOf(slice),
    ...date,
  };
  return pattern.replace(/\{(\w+)\}/g, (braced, name: string) => values[name] ?? braced);
}

/** The file name in an address; the loader of boundaries reads the year in it. */
function parseFileName(url: string): string {
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '').replace(
    /[^\w.()-]/g,
    '_',
  );
  if (/^[\w()-][\w.()-]*$/.test(name)) return name;
  throw downloadFailed(`${url} does not end in the name of a file`, ADDRESS_MOVED);
}

function radiusOf({ topics }: Source): number {
  return Math.max(0, ...topics.map((topic) => (isSearched(topic) ? SEARCH_RADII[topic] : 0)));
}

/** How far beyond its state a part reaches, in metres: as far as the requested boxes. */
export function findReach(source: Source): number {
  return source.download.kind === 'layer' && source.download.stateWhere === 'box'
    ? radiusOf(source)
    : 0;
}

/** One request for each layer, and for each box of a state (Alaska has two). */
export function layerRequests(
  source: Source,
  download: LayerDownload,
  slice: Slice,
  folder: string,
  now: number,
  tiles?: readonly Box[],
): LayerRequest[] {
  const { as = 'geojson', stateWhere } = download;
  const layer = typeof download.layer === 'string' ? download.layer : download.layer[slice]!;
  const thisYear = `${new Date(now).getUTCFullYear()}-01-01`;
  const isState = slice !== 'US' && stateWhere !== undefined;
  const filterOf = (where = download.where): string => {
    const filters = [
      where?.replace('{thisYear}', thisYear),
      isState && stateWhere !== 'box' ? filled(stateWhere, slice) : undefined,
    ].filter((filter) => filter !== undefined);
    return filters.length === 0 ? '1=1' : filters.join(' AND ');
  };
  const boxes =
    isState && stateWhere === 'box' ? boxesOfState(slice, radiusOf(source)) : [undefined];
  const layers = [{ ...download, layer }, ...(download.more ?? [])];
  const all = boxes.flatMap((box) => layers.map((own) => ({ ...own, box })));
  return all.map(({ layer, where, fields, simplifiedBy, pageRows, box }, index) => ({
    layer,
    fields,
    simplifiedBy,
    pageRows,
    where: filterOf(where),
    as,
    box,
    ...(tiles && { tiles: askedTiles(tiles, download.aroundPlaces ?? 0) }),
    target: join(folder, `${source.name}-${slice}${index === 0 ? '' : `-${index + 1}`}.${as}`),
    mostBytes: mostBytesOf(source),
    staleAfterMs: staleAfterMs(source),
    mayBeEmpty: isState,
  }));
}

/** The newest link of a page that matches a pattern: the greatest year (first group), then the latest day, from the directory
 * listing (`href="…">…</a> 2026-09-14 12:10`) or else from the second group (MMDDYY or MMDDYYYY).
 * @throws PerilbookError DOWNLOAD_FAILED when no link fits */
export function newestLink(html: string, page: string, pattern: string): string {
  const [newest] = linksOf(html, page, pattern);
  if (newest !== undefined) return newest;
  throw downloadFailed(`The page ${page} has no link to ${nameOfPattern(pattern)}`, ADDRESS_MOVED);
}

/** The links of a page that match a pattern, newest first. */
function linksOf(html: string, page: string, pattern: string): string[] {
  const links: { readonly url: string; readonly year: string; readonly day: string }[] = [];
  // EIA keeps the links of months to come in comments.
  const shown = html.replace(/<!--[\s\S]*?-->/g, '');
  for (const [, quoted = '', after = ''] of shown.matchAll(
    /href\s*=\s*["']([^"']+)["'](?=([^\n]{0,300}))/gi,
  )) {
    const [whole, year = '', day = ''] = new RegExp(`(?:^|/)${pattern}$`).exec(quoted) ?? [];
    if (whole === undefined) continue;
    const [, listed] =
      /^[^<]*<\/a>\s*(?:<\/td>\s*<td[^>]*>)?\s*(\d{4}-\d{2}-\d{2} \d{2}:\d{2})/i.exec(after) ?? [];
    links.push({
      url: new URL(quoted, page).href,
      year,
      day: listed?.replace(/\D/g, '') ?? dayOfName(day),
    });
  }
  return links.sort((a, b) => order(b.year, a.year) || order(b.day, a.day)).map(({ url }) => url);
}

/** The name of a file as a reader writes it: `1955-YYYY_hail.csv.zip`. */
function nameOfPattern(pattern: string): string {
  const dates: Readonly<Record<string, string>> = { 2: 'MM', 4: 'YYYY', '6,8': 'MMDDYYYY' };
  const name = pattern.replace(
    /\(\\d\{([\d,]+)\}\)/g,
    (group, digits: string) => dates[digits] ?? group,
  );
  return name.replace(/^\[.*?\*\//, '').replaceAll('\\', '');
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** 091426 and 09142026 become 20260914; other texts stay. */
function dayOfName(text: string): string {
  const [, month, day, year] = /^(\d\d)(\d\d)((?:20)?\d\d)$/.exec(text) ?? [];
  return month === undefined ? text : `${year!.length === 2 ? `20${year}` : year}${month}${day}`;
}
