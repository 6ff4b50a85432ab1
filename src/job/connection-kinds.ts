import type { LocalData } from './lookup/local-data.ts';
import type { Key } from './planning/api-keys.ts';

/** Where a run's answers come from. Only planning and the step that gets answers know the kind. */
export type Connection = ServiceConnection | LocalConnection;

/** A service that answers are bought from: its address, the keys, and whose answers it gives. */
export interface ServiceConnection {
  readonly kind: 'service';
  readonly baseUrl: string;
  /** Names the service and its data set in the store: answers of two sources never mix. */
  readonly source: string;
  /** All answers are sample data. A service may also say so in its answers (`SampleRows`). */
  readonly sample: boolean;
  readonly keys: readonly Key[];
}

/** The agencies' data on this machine: free, and never made up. */
export interface LocalConnection {
  readonly kind: 'local';
  readonly source: string;
  readonly sample: false;
  readonly data: LocalData;
}
