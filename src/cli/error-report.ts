import { PerilbookError } from '../errors.ts';

/** An error as `--json` prints it, with the place where it happened. */
export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly row?: number | undefined;
  readonly column?: string | undefined;
}

export function errorReport(error: unknown): ErrorReport {
  if (!(error instanceof PerilbookError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'BUG', message, hint: 'This is a bug in Perilbook. Please report it.' };
  }
  const { code, message, hint, context } = error;
  const { file, line, row, column } = context;
  return { code, message, hint, file, line, row, column };
}
