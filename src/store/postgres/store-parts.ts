import type { cellCodec } from '../cell-answers.ts';
import type { Owner } from '../port.ts';
import type { RecentCall } from '../recent-calls.ts';
import type { ServerTime } from './account-locks.ts';
import type { TextTable } from './text-table.ts';

/** What the parts of an open store share. */
export interface StoreParts {
  readonly texts: TextTable;
  readonly codec: ReturnType<typeof cellCodec>;
  readonly serverTime: ServerTime;
  readonly owner: Owner;
  /** The calls of the last minute, by account. */
  readonly windows: Map<string, readonly RecentCall[]>;
}
