import { ANSWERS } from './answer-faults.ts';
import { CONNECTION } from './connection-faults.ts';
import type { FaultCase } from './fault-case.ts';
import { REFUSED } from './refusal-faults.ts';

/** Everything that may happen between the client and the service, and how a run under it ends. */
export const FAULTS: readonly FaultCase[] = [...CONNECTION, ...ANSWERS, ...REFUSED];
