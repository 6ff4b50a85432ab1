import { columnsOf } from '../loaders/agency-table.ts';
import type { Source } from '../sources/source.ts';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import { type DownloadContext, type FileRequest, probeFile } from './download-file.ts';
import { probeSpans } from './download-spans.ts';
import { countOf, probeLayer } from './layer-queries.ts';
import { getText } from './request-json.ts';
import { datedRequests, fileNameOf, layerRequests, newestLink } from './source-requests.ts';

/** The result of checking one address. */
export interface ProbedSource {
  /** The server's count of rows. */
  readonly rows?: number;
  /** The last change, in milliseconds since the epoch. */
  readonly changedAt?: number | undefined;
  readonly url: string;
  /** The needed columns that a layer lacks. */
  readonly lacking?: readonly string[];
}

/** A stored part, and its rows at the publisher now. */
export interface ProbedPart {
  readonly state: string;
  /** The stored rows; 1 for a file. */
  readonly here: number;
  readonly rows: number;
}

/** Counts the rows of a layer by state, or the files of states. @param parts the states with the number of their stored rows */
export async function probeParts(
  source: Source,
  parts: ReadonlyMap<string, number>,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
): Promise<ProbedPart[]> {
  const { download, firstLine } = source;
  const probed: ProbedPart[] = [];
  for (const [state, here] of parts) {
    let rows = 0;
    if (download.kind === 'file') {
      for (const request of datedRequests(download, 0, state, '', context.clock.now())) {
        if (rows === 0 && (await probeFile({ ...request, mostBytes: 0, headers, firstLine }, context)) !== null)
          rows = 1;
      }
    }
    if (download.kind !== 'layer') {
      probed.push({ state, here, rows });
      continue;
    }
    for (const request of layerRequests(source, download, state, '', context.clock.now())) {
      rows += await countOf({ ...request, mayBeEmpty: true }, context);
    }
    probed.push({ state, here, rows });
  }
  return probed;
}

/**
 * Checks that a source exists and has the expected format; downloads nothing.
 *
 * @throws PerilbookError DOWNLOAD_FAILED when it moved, changed its form, or cannot be reached
 */
export async function probeSource(
  source: Source,
  context: DownloadContext,
  headers: Readonly<Record<string, string>>,
): Promise<ProbedSource[]> {
  const { download, firstLine } = source;
  const limits = { mostBytes: 0, headers, firstLine };
  const now = context.clock.now();
  const probeNewest = async (requests: readonly Pick<FileRequest, 'url' | 'target'>[]): Promise<ProbedSource> => {
    for (const request of requests) {
      const file = await probeFile({ ...request, ...limits }, context);
      if (file === null) continue;
      const changedAt = Date.parse(file.lastModified ?? '');
      return { url: request.url, changedAt: Number.isNaN(changedAt) ? undefined : changedAt };
    }
    throw downloadFailed(`${requests.at(-1)!.url} is missing, and so are newer files`, ADDRESS_MOVED);
  };
  const probed: ProbedSource[] = [];
  switch (download.kind) {
    case 'file':
      for (const [index] of download.files.entries()) {
        probed.push(await probeNewest(datedRequests(download, index, 'US', '', now)));
      }
      return probed;
    case 'linked': {
      const html = await getText(download.page, context, 20_000_000);
      for (const pattern of download.links) {
        const url = newestLink(html, download.page, pattern);
        probed.push(await probeNewest([{ url, target: fileNameOf(url) }]));
      }
      return probed;
    }
    case 'layer': {
      const slices = typeof download.layer === 'string' ? ['US'] : Object.keys(download.layer);
      for (const slice of slices) {
        const [request] = layerRequests(source, download, slice, '', now);
        const { count, edited, fields } = await probeLayer(request!, context);
        const { find } = columnsOf(fields, request!.layer);
        const lacking = neededColumns(source).filter((names) => find(...names) < 0);
        probed.push({
          ...{ url: request!.layer, rows: count, changedAt: edited ?? undefined },
          lacking: lacking.map((names) => names.join(' or ')),
        });
      }
      return probed;
    }
    case 'spans':
      // Without the query, because its placeholders are no valid request.
      return [{ url: download.countUrl.split('?')[0]!, rows: await probeSpans(download, context) }];
  }
}

/** The columns that the loader needs, and that of the filter by state. */
function neededColumns({ columns = [], download }: Source): readonly (readonly string[])[] {
  const [state] = (download.kind === 'layer' && /^\w+(?==)/.exec(download.stateWhere ?? '')) || [];
  return state === undefined ? columns : [[state], ...columns];
}
