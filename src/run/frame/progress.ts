import type { Settlement } from '../../store/ledger/port.ts';

/** The phase of a run. `looking_up`: in local data. */
export type Phase = 'reading' | 'pricing' | 'buying' | 'looking_up' | 'writing';

const START = {
  phase: 'reading' as Phase,
  /** Rows read or written in this phase so far. */
  rows: 0,
  cells: 0,
  cellsDone: 0,
  /** The value of the cells that are done; 0 in the order of the file. */
  valueDone: 0,
  creditsPlanned: 0,
  creditsSpent: 0,
  creditsUnknown: 0,
  /** The calls that may have cost `creditsUnknown`. */
  callsUnknown: 0,
  /** The calls for which the service charged more than the plan's price, and how much more in all. */
  callsAbovePrice: 0,
  creditsAbovePrice: 0,
  /** Planned credits that this run did not need, because other runs bought the answers meanwhile. */
  creditsByOthers: 0,
  calls: 0,
  callsInFlight: 0,
  retries: 0,
  /** Calls that brought an answer. */
  callsAnswered: 0,
  /** Calls that were given up: no attempt follows. */
  callsFailed: 0,
  /** The same by kind: `upstream`, `transport`, `rejected`, … */
  failuresByKind: {} as Readonly<Record<string, number>>,
  /** Failures that state a cost, since the last answered call: all batches of a run count together. */
  paidFailures: 0,
  /** What the last of these calls failed with; empty where there was none. */
  lastFailure: '',
  /** How often the service asked to slow down (429). */
  slowedDown: 0,
  /** The end of the last such wait, by the steady time; 0 where there was none. */
  slowedUntil: 0,
  /** The steady time since which the service has answered nothing; null while it answers. */
  unansweredSince: null as number | null,
  /** When the ledger allows calls again, by the steady time, after other runs or an earlier one used the minute; 0 without such a wait. */
  minuteUsedUntil: 0,
  /** The credits left in the period, by the ledger, after quota and reserve, and this run's credits at that time; null before it was read. */
  ledgerLeft: null as { readonly credits: number; readonly spent: number } | null,
  /** Credits that may be spent now before the minute is full, by the subscription or the service's report. Null while nothing is bought. */
  minuteLeft: null as (() => number) | null,
  /** Called when the phase changes and when the service asks to slow down: a display that only polls would miss these events. */
  onChange: null as (() => void) | null,
};

type Writable = typeof START;

/** The progress of a run, for the display. Only the functions here change it. */
export type Progress = Readonly<Omit<Writable, 'onChange'>> & Pick<Writable, 'onChange'>;

/** The progress at the start. */
export function newProgress(): Progress {
  return { ...START };
}

type Count = {
  [Name in keyof Writable]: Writable[Name] extends number ? Name : never;
}[keyof Writable];

/** Adds to counts. */
export function addTo(progress: Progress, counts: Partial<Record<Count, number>>): void {
  for (const [name, count] of Object.entries(counts))
    (progress as Writable)[name as Count] += count;
}

/** Sets what is known. */
export function setIn(progress: Progress, facts: Partial<Progress>): void {
  Object.assign(progress, facts);
}

/** Begins a phase, whose rows count from 0; in the phase that it is in already, sets the facts alone. */
export function enterPhase(progress: Progress, phase: Phase, facts: Partial<Progress> = {}): void {
  setIn(progress, facts);
  if (progress.phase === phase) return;
  setIn(progress, { phase, rows: 0 });
  progress.onChange?.();
}

/** Counts a call that has ended. @param price what the plan expected it to cost */
export function countSettled(
  progress: Progress,
  { credits, charge }: Pick<Settlement, 'credits' | 'charge'>,
  price: number,
): void {
  addTo(progress, { callsInFlight: -1, calls: 1 });
  if (credits > price) addTo(progress, { callsAbovePrice: 1, creditsAbovePrice: credits - price });
  addTo(
    progress,
    charge === 'unknown' ? { creditsUnknown: credits, callsUnknown: 1 } : { creditsSpent: credits },
  );
}

/** Counts a call that was given up. */
export function countFailure(progress: Progress, kind: string, message: string): void {
  const { failuresByKind: before } = progress;
  addTo(progress, { callsFailed: 1 });
  setIn(progress, {
    lastFailure: message,
    failuresByKind: { ...before, [kind]: (before[kind] ?? 0) + 1 },
  });
}
