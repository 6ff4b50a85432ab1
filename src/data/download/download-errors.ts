import { PerilbookError } from '../../errors.ts';

/** Marks a transient failure. */
export interface AttemptAgain {
  readonly again: true;
  /** How long the server asks to wait, in milliseconds. */
  readonly waitMs?: number;
}

/** The error of a failed download. */
export function downloadFailed(
  message: string,
  hint: string,
  again: AttemptAgain | null = null,
  cause?: unknown,
): PerilbookError {
  return new PerilbookError('DOWNLOAD_FAILED', message, hint, { ...again }, cause);
}

/** Whether another attempt may succeed. */
export function mayTryAgain(error: unknown): error is PerilbookError & { readonly context: AttemptAgain } {
  return error instanceof PerilbookError && error.context.again === true;
}

export const TRY_LATER = 'Run the same command again to resume; the stored data is unchanged.';
export const ADDRESS_MOVED =
  'The agency may have moved it: see docs/operator/downloads.md, Mirrors, for how to set another address; the stored data is unchanged.';
