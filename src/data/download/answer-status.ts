import { retryAfterMs } from '../../contract/header-values.ts';
import type { PerilbookError } from '../../errors.ts';
import { ADDRESS_MOVED, downloadFailed, TRY_LATER } from './download-errors.ts';
import type { WebAnswer } from './web-client.ts';

/** The error for an answer without success. */
export function refusedAnswer(url: string, { status, headers }: WebAnswer, now: number): PerilbookError {
  const waitMs = retryAfterMs(headers['retry-after'], now);
  const message = `${url} answered with status ${status}`;
  if (status === 429 || status === 408 || status >= 500) {
    const hint = status === 429 ? `The server asks to wait. ${TRY_LATER}` : TRY_LATER;
    return downloadFailed(message, hint, { again: true, ...(waitMs === null ? {} : { waitMs }) });
  }
  if (status === 401 || status === 403) {
    return downloadFailed(
      `${message}: it refuses programs, or needs a key`,
      'Download it in a browser and load it with: perilbook data load LOADER FILE; the stored data is unchanged.',
    );
  }
  return downloadFailed(message, ADDRESS_MOVED);
}

/** Whether the status says that the file does not exist; the file of another year may. */
export const isMissing = (status: number): boolean => status === 404 || status === 410;
