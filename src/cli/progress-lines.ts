import type { Progress } from '../job/buying/buying.ts';
import { grouped } from './words.ts';
import type { World } from './world.ts';

const ON_TERMINAL_MS = 200;
const ELSEWHERE_MS = 30_000;

/** Shows on stderr how the buying goes: one line that is written over on a terminal, else a line every 30 s. Returns
 * what ends it. */
export function showProgress(world: World, progress: Progress): () => void {
  const { stderr } = world;
  const isTerminal = stderr.isTTY === true && world.env.TERM !== 'dumb';
  const show = () => {
    if (progress.cells === 0) return;
    const line = progressLine(progress);
    stderr.write(isTerminal ? `\r\u001b[K${line.slice(0, (stderr.columns ?? 80) - 1)}` : `${line}\n`);
  };
  const timer = setInterval(show, isTerminal ? ON_TERMINAL_MS : ELSEWHERE_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (isTerminal && progress.cells > 0) stderr.write('\r\u001b[K');
  };
}

export function progressLine(progress: Progress): string {
  const { cells, cellsDone, creditsSpent, creditsPlanned, callsInFlight, retries, failures, slowedDown } = progress;
  const parts = [
    `${grouped(cellsDone)} of ${grouped(cells)} cells`,
    `${grouped(creditsSpent)} of ${grouped(creditsPlanned)} credits`,
    `${callsInFlight} in flight`,
    retries > 0 ? `${grouped(retries)} retries` : '',
    slowedDown > 0 ? `${grouped(slowedDown)} times asked to slow down` : '',
    failures > 0 ? `${grouped(failures)} failed` : '',
  ];
  return parts.filter(Boolean).join(' · ');
}
