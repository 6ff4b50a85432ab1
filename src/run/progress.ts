import type { Settlement } from '../store/ledger/port.ts';

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
  /** What the last of these calls failed with; empty where there was none. */
  lastFailure: '',
  /** How often the service asked to slow down (429). */
  slowedDown: 0,
  /** The end of the last such wait, by the steady time; 0 where there was none. */
  slowedUntil: 0,
  /** When the ledger allows calls again, by the steady time, after other runs or an earlier one have used the minute; 0 without
   * such a wait. */
  minuteUsedUntil: 0,
  /** The credits left in the period, by the ledger, after quota and reserve, and this run's credits at that time; null before the
   * ledger was read. */
  ledgerLeft: null as { readonly credits: number; readonly spent: number } | null,
  /** Credits that may be spent now before the minute is full: fewer than the subscription allows if the service reports fewer. Null
   * while nothing is bought. */
  minuteLeft: null as (() => number) | null,
  /** Called when the phase changes and when the service asks to slow down: a display that only polls would miss these events. */
  onChange: null as (() => void) | null,
};

type Writable = typeof START;

/** The progress of a run, for the display. Only `record` changes it. */
export type Progress = Readonly<Omit<Writable, 'onChange'>> & Pick<Writable, 'onChange'>;

export function newProgress(): Progress {
  return { ...START };
}

const EVENTS = {
  phase: enter,
  rowsScanned(progress: Writable, rows: number) {
    progress.rows = rows;
  },
  rowsWritten(progress: Writable, rows: number) {
    progress.rows += rows;
  },
  buying(progress: Writable, planned: Pick<Progress, 'cells' | 'creditsPlanned' | 'minuteLeft'>) {
    Object.assign(progress, planned);
    enter(progress, 'buying');
  },
  lookingUp(progress: Writable, cells: number) {
    progress.cells = cells;
    enter(progress, 'looking_up');
  },
  lookedUp(progress: Writable, cells: number) {
    progress.cellsDone += cells;
  },
  bought(progress: Writable) {
    progress.minuteLeft = null;
  },
  ledgerRead(progress: Writable, ledgerLeft: NonNullable<Progress['ledgerLeft']>) {
    progress.ledgerLeft = ledgerLeft;
  },
  callSent(progress: Writable) {
    progress.callsInFlight++;
  },
  callSettled(progress: Writable, { credits, charge }: Pick<Settlement, 'credits' | 'charge'>, price: number) {
    progress.callsInFlight--;
    progress.calls++;
    if (credits > price) {
      progress.callsAbovePrice++;
      progress.creditsAbovePrice += credits - price;
    }
    if (charge !== 'unknown') progress.creditsSpent += credits;
    else {
      progress.creditsUnknown += credits;
      progress.callsUnknown++;
    }
  },
  boughtByOthers(progress: Writable, credits: number) {
    progress.creditsByOthers += credits;
  },
  retry(progress: Writable) {
    progress.retries++;
  },
  slowedDown(progress: Writable, until: number) {
    progress.slowedDown++;
    progress.slowedUntil = until;
    progress.onChange?.();
  },
  minuteUsed(progress: Writable, until: number) {
    progress.minuteUsedUntil = Math.max(progress.minuteUsedUntil, until);
  },
  answered(progress: Writable) {
    progress.callsAnswered++;
  },
  failure(progress: Writable, kind: string, message: string) {
    const { failuresByKind: before } = progress;
    progress.callsFailed++;
    progress.lastFailure = message;
    progress.failuresByKind = { ...before, [kind]: (before[kind] ?? 0) + 1 };
  },
  cellDone(progress: Writable, value: number) {
    progress.cellsDone++;
    progress.valueDone += value;
  },
};

type Events = typeof EVENTS;
type Details<Event> = Event extends (progress: Writable, ...details: infer Rest) => void ? Rest : never;

/** Counts an event of a run. */
export function record<Event extends keyof Events>(
  progress: Progress,
  event: Event,
  ...details: Details<Events[Event]>
): void {
  (EVENTS[event] as (progress: Writable, ...details: Details<Events[Event]>) => void)(progress, ...details);
}

function enter(progress: Writable, phase: Phase): void {
  if (progress.phase === phase) return;
  progress.phase = phase;
  progress.rows = 0;
  progress.onChange?.();
}
