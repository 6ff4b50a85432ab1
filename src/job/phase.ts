/** What a run is at. `waiting`: for the quota, with `on_quota: wait`. */
export type Phase = 'reading' | 'pricing' | 'buying' | 'waiting' | 'writing';

/** Where a run is; read by whoever shows progress. */
export interface Phased {
  phase: Phase;
  /** Rows read or written in this phase so far. */
  rows: number;
  /** Told when the phase changes and when the service asks to slow down: what is seen only now and then would be missed. */
  onChange: (() => void) | null;
}

/** Begins a phase. */
export function enterPhase(phased: Phased, phase: Phase): void {
  if (phased.phase === phase) return;
  phased.phase = phase;
  phased.rows = 0;
  phased.onChange?.();
}
