import type { WriteResult } from '../../rows/port.ts';
import type { PlainError } from '../../rows/threads/plain-error.ts';
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
