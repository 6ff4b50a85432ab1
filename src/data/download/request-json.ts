import { resultOrNull } from '../../base/errors.ts';
import { withAttempts } from './attempts.ts';
import { unexpectedStart } from './content-checks.ts';
import { ADDRESS_MOVED, downloadFailed, refusedAnswer, TRY_LATER } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import { textOfAnswer } from './web-client.ts';

/** Far above any page of a layer. */
const MOST_BYTES = 300_000_000;

/** Requests a text. */
export async function getText(url: string, context: DownloadContext, mostBytes = MOST_BYTES): Promise<string> {
  return await withAttempts(context, () => askedText(url, context, mostBytes));
}

async function askedText(url: string, context: DownloadContext, mostBytes: number): Promise<string> {
  return await context.client.get(url, { 'accept-encoding': 'gzip' }, context.signal, async (answer) => {
    if (answer.status !== 200) throw refusedAnswer(url, answer, context.clock.now());
    return await textOfAnswer(answer, url, mostBytes);
  });
}

/** Requests JSON from an ArcGIS server, which reports errors with status 200.
 * @throws PerilbookError DOWNLOAD_FAILED */
export async function getArcgisJson(url: string, context: DownloadContext): Promise<Record<string, unknown>> {
  return await withAttempts(context, async () => {
    const text = await askedText(url, context, MOST_BYTES);
    const value = resultOrNull(() => JSON.parse(text) as Record<string, unknown> | null);
    if (typeof value !== 'object' || value === null) {
      const problem = unexpectedStart('answer.json', Buffer.from(text.slice(0, 1_024))) ?? 'no whole JSON';
      throw downloadFailed(`${url} answered with ${problem}`, TRY_LATER, { again: true });
    }
    if (value.error !== undefined) throw arcgisError(url, value.error);
    return value;
  });
}

const NEEDS_ACCOUNT =
  'The layer now needs an account: download the data by hand and load it with: perilbook data load LOADER FILE.';

function arcgisError(url: string, error: unknown) {
  const { code = 0, message = '', details = [] } = (error ?? {}) as Record<string, unknown>;
  const reason = [message, ...(Array.isArray(details) ? details : [details])].filter(Boolean).join('; ');
  const text = `${url} answered with the error ${code}: ${reason}`;
  const [, seconds] = /retry after (\d+) sec/i.exec(reason) ?? [];
  if (Number(code) === 429 || Number(code) >= 500 || seconds !== undefined) {
    const wait = seconds === undefined ? {} : { waitMs: Number(seconds) * 1_000 };
    return downloadFailed(text, TRY_LATER, { again: true, ...wait });
  }
  return downloadFailed(text, [403, 498, 499].includes(Number(code)) ? NEEDS_ACCOUNT : ADDRESS_MOVED);
}
