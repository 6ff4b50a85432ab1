/** What a run does now. `waiting`: for the quota, with `on_quota: wait`. */
export type Phase = 'reading' | 'pricing' | 'buying' | 'waiting' | 'writing';

/** What a run has done so far, for whoever shows it. Only `record` changes it. */
export interface Progress {
  readonly phase: Phase;
  /** Rows read or written in this phase so far. */
  readonly rows: number;
  readonly cells: number;
  readonly cellsDone: number;
  readonly creditsPlanned: number;
  readonly creditsSpent: number;
  readonly creditsUnknown: number;
  /** The calls that may have cost `creditsUnknown`. */
  readonly callsUnknown: number;
  readonly calls: number;
  readonly callsInFlight: number;
  readonly retries: number;
  readonly failures: number;
  /** The same by kind: `upstream`, `transport`, `rejected`, … */
  readonly failuresByKind: Readonly<Record<string, number>>;
  /** How often the service asked to slow down (429). */
  readonly slowedDown: number;
  /** The end of the last such wait, by the steady time; 0 where there was none. */
  readonly slowedUntil: number;
  /** When the wait for the quota ends, milliseconds since the epoch; 0 where the run does not wait. */
  readonly waitingUntil: number;
  /** The credits that quota and reserve left of the period, by the ledger, when this run had spent so many; null before the ledger
   * was read. */
  readonly atHand: { readonly credits: number; readonly spent: number } | null;
  /** Credits that may be spent now before the minute is full: less than the subscription says where the service has said so. Null
   * while nothing is bought. */
  readonly minuteLeft: (() => number) | null;
  /** Called when the phase changes and when the service asks to slow down: a display that only polls would miss these. */
  onChange: (() => void) | null;
}

export type ProgressEvent =
  | { readonly event: 'phase'; readonly phase: Phase }
  | { readonly event: 'rows_scanned'; readonly rows: number }
  | { readonly event: 'rows_written'; readonly rows: number }
  | {
      readonly event: 'buying';
      readonly cells: number;
      readonly credits: number;
      readonly minuteLeft: () => number;
    }
  | { readonly event: 'bought' }
  | { readonly event: 'ledger_read'; readonly credits: number; readonly spent: number }
  | { readonly event: 'waiting'; readonly until: number }
  | { readonly event: 'call_sent' }
  | { readonly event: 'call_settled'; readonly credits: number; readonly isUnknown: boolean }
  | { readonly event: 'retry' }
  | { readonly event: 'slowed_down'; readonly until: number }
  | { readonly event: 'failure'; readonly kind: string }
  | { readonly event: 'cell_done' };

type Writable = { -readonly [Name in keyof Progress]: Progress[Name] };

export function newProgress(): Progress {
  return {
    phase: 'reading',
    rows: 0,
    cells: 0,
    cellsDone: 0,
    creditsPlanned: 0,
    creditsSpent: 0,
    creditsUnknown: 0,
    callsUnknown: 0,
    calls: 0,
    callsInFlight: 0,
    retries: 0,
    failures: 0,
    failuresByKind: {},
    slowedDown: 0,
    slowedUntil: 0,
    waitingUntil: 0,
    atHand: null,
    minuteLeft: null,
    onChange: null,
  };
}

/** Counts an event of a run. */
export function record(counted: Progress, event: ProgressEvent): void {
  const progress: Writable = counted;
  switch (event.event) {
    case 'phase':
      enter(progress, event.phase);
      break;
    case 'rows_scanned':
      progress.rows = event.rows;
      break;
    case 'rows_written':
      progress.rows += event.rows;
      break;
    case 'buying':
      progress.cells = event.cells;
      progress.creditsPlanned = event.credits;
      progress.minuteLeft = event.minuteLeft;
      enter(progress, 'buying');
      break;
    case 'bought':
      progress.minuteLeft = null;
      break;
    case 'ledger_read':
      progress.atHand = { credits: event.credits, spent: event.spent };
      break;
    case 'waiting':
      progress.waitingUntil = event.until;
      enter(progress, 'waiting');
      break;
    case 'call_sent':
      progress.callsInFlight++;
      break;
    case 'call_settled':
      progress.callsInFlight--;
      progress.calls++;
      if (event.isUnknown) {
        progress.creditsUnknown += event.credits;
        progress.callsUnknown++;
      } else progress.creditsSpent += event.credits;
      break;
    case 'retry':
      progress.retries++;
      break;
    case 'slowed_down':
      progress.slowedDown++;
      progress.slowedUntil = event.until;
      progress.onChange?.();
      break;
    case 'failure':
      progress.failures++;
      progress.failuresByKind = {
        ...progress.failuresByKind,
        [event.kind]: (progress.failuresByKind[event.kind] ?? 0) + 1,
      };
      break;
    case 'cell_done':
      progress.cellsDone++;
      break;
  }
}

function enter(progress: Writable, phase: Phase): void {
  if (progress.phase === phase) return;
  if (phase !== 'waiting') progress.waitingUntil = 0;
  progress.phase = phase;
  progress.rows = 0;
  progress.onChange?.();
}
