import { type ErrorCode, PerilbookError } from '../errors.ts';

/** An error as a message carries it: the copy of an error loses its class and code. */
export interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly known: {
    readonly code: ErrorCode;
    readonly hint: string;
    readonly context: PerilbookError['context'];
  } | null;
}

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, known: null };
  const { message, stack } = error;
  const known = error instanceof PerilbookError ? { code: error.code, hint: error.hint, context: error.context } : null;
  return { message, stack, known };
}

export function errorOf({ message, stack, known }: PlainError): Error {
  if (known !== null) return new PerilbookError(known.code, message, known.hint, known.context);
  return Object.assign(new Error(message), { stack });
}
