import { join } from 'node:path';
import { isoDay } from '../../base/format-numbers.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { SpanDownload } from '../sources/source.ts';
import { ADDRESS_MOVED, downloadFailed, missingFile } from './download-errors.ts';
import { type DownloadContext, downloadFile, isWhole } from './download-file.ts';
import { type FetchedFile, type FileEntry, findFetchedFile, isFrom } from './downloads-folder.ts';
import { getText } from './web-client.ts';

/** The range that is halved: it is fixed, so the spans stay the same every year. */
const FIRST = Date.UTC(1900, 0, 1);
const DAY_MS = 86_400_000;
const DAYS = 2 ** 17;

interface TimeSpan {
  readonly name: string;
  readonly box: Box;
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Downloads the events of all boxes, one file per span of time. A span has at most as many events as a query returns. Spans with the
 * same count and no updated event are not downloaded again. */
export async function downloadSpans(
  download: SpanDownload,
  name: string,
  folder: string,
  entries: ReadonlyMap<string, FileEntry>,
  limits: { readonly mostBytes: number; readonly firstLine?: string | undefined },
  context: DownloadContext,
): Promise<Map<string, FetchedFile>> {
  const fetched = new Map<string, FetchedFile>();
  // Events are also updated: magnitudes are corrected for weeks.
  const countUpdates = (span: TimeSpan, at: number) => {
    const since = new Date(at).toISOString().slice(0, 19);
    return fetchSpanCount(
      `${formatAddress(download.countUrl, span)}&updatedafter=${since}`,
      context,
    );
  };
  for (const [boxName, box] of Object.entries(download.boxes)) {
    for await (const span of spansOf(
      download,
      boxName,
      box,
      FIRST,
      FIRST + DAYS * DAY_MS,
      context,
    )) {
      const key = `US/${span.name}`;
      const url = formatAddress(download.url, span);
      const target = join(folder, `${name}-${span.name}.csv`);
      const entry = entries.get(key);
      const isSame =
        entry !== undefined &&
        isFrom(entry, url, folder) &&
        entry.count === span.count &&
        isWhole(entry, target) &&
        (await countUpdates(span, entry.fetchedAt)) === 0;
      const outcome = isSame
        ? 'unchanged'
        : await downloadFile({ url, target, ...limits }, undefined, context);
      if (outcome === 'missing') throw missingFile([{ url }]);
      const counted = outcome === 'unchanged' ? outcome : { ...outcome, count: span.count };
      fetched.set(key, findFetchedFile(url, target, entry, counted, context.clock.now()));
    }
  }
  return fetched;
}

/** Counts the events of the last year in the first box.
 * @throws PerilbookError DOWNLOAD_FAILED when there are none: every box has some in a year */
export async function probeSpans(
  download: SpanDownload,
  context: DownloadContext,
): Promise<number> {
  const to = context.clock.now();
  const [box] = Object.values(download.boxes);
  const url = formatAddress(download.countUrl, { box: box!, from: to - 365 * DAY_MS, to });
  const count = await fetchSpanCount(url, context);
  if (count === 0) throw downloadFailed(`${url} counts no events in a year`, ADDRESS_MOVED);
  return count;
}

async function* spansOf(
  download: SpanDownload,
  boxName: string,
  box: Box,
  from: number,
  to: number,
  context: DownloadContext,
): AsyncGenerator<TimeSpan> {
  if (from > context.clock.now()) return;
  const name = `${boxName}-${isoDay(from)}-${isoDay(to)}`;
  const count = await fetchSpanCount(formatAddress(download.countUrl, { box, from, to }), context);
  if (count === 0) return;
  if (count <= download.mostRows) {
    yield { name, box, from, to, count };
    return;
  }
  const days = (to - from) / DAY_MS;
  if (days <= 1)
    throw downloadFailed(`${download.countUrl} counts ${count} events in one day`, ADDRESS_MOVED);
  const middle = from + Math.floor(days / 2) * DAY_MS;
  yield* spansOf(download, boxName, box, from, middle, context);
  yield* spansOf(download, boxName, box, middle, to, context);
}

async function fetchSpanCount(url: string, context: DownloadContext): Promise<number> {
  const text = (await getText(url, context, 1_000_000)).trim();
  if (/^\d+$/.test(text)) return Number(text);
  throw downloadFailed(
    `${url} answered with "${text.slice(0, 60)}" instead of a count`,
    ADDRESS_MOVED,
  );
}

function formatAddress(
  pattern: string,
  { box, from, to }: Pick<TimeSpan, 'box' | 'from' | 'to'>,
): string {
  const edges = Object.entries(box).map(([edge, degrees]) => [edge.toLowerCase(), degrees]);
  const values = { from: isoDay(from), to: isoDay(to), ...Object.fromEntries(edges) };
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
