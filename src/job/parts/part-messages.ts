import { type ErrorCode, PerilbookError } from '../../errors.ts';
import type { WriteResult } from '../../rows/port.ts';
import type { PartTask } from './write-part.ts';

/** What a thread that writes parts is started with. */
export interface ThreadSettings {
  /** Cells whose fields it keeps. */
  readonly mostCells: number;
}

export type ToThread =
  | { readonly kind: 'write'; readonly task: PartTask }
  /** As JSON: a copy of the arrays takes longer. */
  | { readonly kind: 'fields'; readonly json: string }
  /** The fields that were asked for cannot be read. */
  | { readonly kind: 'no_fields' }
  | { readonly kind: 'stop' };

export type FromThread =
  | { readonly kind: 'ask'; readonly places: readonly number[] }
  | { readonly kind: 'rows'; readonly rows: number }
  | { readonly kind: 'written'; readonly result: WriteResult }
  | { readonly kind: 'failed'; readonly error: PlainError };

/** An error as a message carries it: the copy of an error loses its class and code. */
interface PlainError {
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
