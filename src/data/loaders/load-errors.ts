import { PerilbookError } from '../../errors.ts';

/** The refusal of a file that cannot be read. */
export function unreadable(file: string, error: unknown): PerilbookError {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const reason = error instanceof Error ? error.message : String(error);
  return new PerilbookError(
    'SERVICE_DATA',
    isMissing ? `There is no file "${file}"` : `Cannot read "${file}": ${reason}`,
    'Check the name of the file and that it can be read.',
    { file },
    error,
  );
}

/** The refusal of a file that is not what it should be. */
export function invalidFile(file: string, problem: string, hint: string, cause?: unknown): PerilbookError {
  return new PerilbookError('SERVICE_DATA', `Cannot load "${file}": ${problem}`, hint, { file }, cause);
}
