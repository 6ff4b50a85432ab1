import { PerilbookError } from '../../errors.ts';

/** The error for a file that cannot be read. */
export function unreadable(file: string, error: unknown): PerilbookError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const reason = error instanceof Error ? error.message : String(error);
  return new PerilbookError(
    'SERVICE_DATA',
    isMissing ? `File "${file}" not found` : `Cannot read "${file}": ${reason}`,
    'Check the path and the permissions of the file.',
    { file },
    error,
  );
}

/** The error for a file that is not what it should be. */
export function invalidFile(file: string, problem: string, hint: string, cause?: unknown): PerilbookError {
  return new PerilbookError('SERVICE_DATA', `Cannot load "${file}": ${problem}`, hint, { file }, cause);
}
