/** What the program must do next about an error. `row`: that row's own, go on; `retry`: the same call may work later;
 * `pause`: stop cleanly, resumable; `stop`: the user must change something; `bug`: ours. */
export type NextStep = 'row' | 'retry' | 'pause' | 'stop' | 'bug';

/** Every stable code, with what it asks for next. A code lives here and nowhere else; the exit code follows from it. */
export const ERROR_CODES = {
  USAGE: 'stop',
  JOB_FILE: 'stop',
  INPUT_UNREADABLE: 'stop',
  INPUT_COLUMNS: 'stop',
  OUTPUT_UNWRITABLE: 'stop',
  NEEDS_APPROVAL: 'stop',
  PLAN_MISMATCH: 'stop',
  STORE_UNUSABLE: 'stop',
  STORE_TOO_NEW: 'stop',
  STORE_MOVED: 'stop',
  KEY_MISSING: 'stop',
  KEY_REFUSED: 'stop',
  SCOPE_MISSING: 'stop',
  QUOTA_EXCEEDED: 'pause',
  BUDGET_REACHED: 'pause',
  SERVICE_DOWN: 'pause',
  INTERRUPTED: 'pause',
  SERVICE_DATA: 'stop',
  SERVICE_ACCOUNT: 'stop',
  NODE_TOO_OLD: 'stop',
  BUG: 'bug',
} as const satisfies Record<string, NextStep>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Where an error happened; only the fields that are known are given. */
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
  /** One sentence that names the next action of the user. */
  readonly hint: string;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, hint: string, context: ErrorContext = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.context = context;
  }

  get next(): NextStep {
    return ERROR_CODES[this.code];
  }
}

/** True for an error of the operating system with this code (`ENOENT`, `EACCES`, …). */
export function hasSystemCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
