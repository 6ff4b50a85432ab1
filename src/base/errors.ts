/** All error codes. They are stable; exit codes follow from them (`src/cli/options/exit-codes.ts`). */
export const ERROR_CODES = [
  'USAGE',
  'JOB_FILE',
  'INPUT_UNREADABLE',
  'INPUT_COLUMNS',
  'OUTPUT_UNWRITABLE',
  'OUTPUT_EXISTS',
  'NEEDS_APPROVAL',
  'STORE_UNUSABLE',
  'STORE_TOO_NEW',
  'STORE_MOVED',
  'STORE_UNREACHABLE',
  'KEY_MISSING',
  'KEY_REFUSED',
  'SCOPE_MISSING',
  'QUOTA_EXCEEDED',
  'BUDGET_REACHED',
  'SERVICE_DOWN',
  'INTERRUPTED',
  'SERVICE_DATA',
  'LOCAL_DATA',
  'THREAD_FAILED',
  'DOWNLOAD_FAILED',
  'SERVICE_ACCOUNT',
  'ACCOUNTS_UNAVAILABLE',
  'NODE_TOO_OLD',
  'BUG',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Where an error happened, as far as it is known. */
export interface ErrorContext {
  readonly file?: string;
  readonly line?: number;
  readonly column?: string;
  readonly row?: number;
  readonly [detail: string]: unknown;
}

/** The one error type of the program: a stable code, what happened, and what to do about it. */
export class PerilbookError extends Error {
  override readonly name = 'PerilbookError';
  readonly code: ErrorCode;
  /** One sentence: what the user should do. */
  readonly hint: string;
  readonly context: ErrorContext;

  constructor(
    code: ErrorCode,
    message: string,
    hint: string,
    context: ErrorContext = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.context = context;
  }
}

/** The error for a state that only a bug of ours can cause. */
export function bug(message: string): PerilbookError {
  return new PerilbookError('BUG', message, 'Please report this.');
}

/** The result of some work; null where it fails, for any reason. */
export function resultOrNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/** True for an error of the operating system or of SQLite with this code (`ENOENT`, `SQLITE_BUSY`, …). */
export function hasSystemCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** True where nothing more can be written: the disk is full, or a user's quota, or the file is as large as it may be. */
export function isRoomUsedUp(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].some((code) => hasSystemCode(error, code));
}
