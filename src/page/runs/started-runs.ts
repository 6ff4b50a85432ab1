import { steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import type { Job } from '../../job/settings.ts';
import { runFacts } from '../../run/estimate.ts';
import type { Prepared } from '../../run/prepare.ts';
import { openContext } from '../../run/run-context.ts';
import { runJob } from '../../run/run-job.ts';
import { pageEffects, type UiDependencies } from '../dependencies.ts';
import { withoutTerminal } from '../files/page-words.ts';
import { makeErrorMessage, RefusedRequest } from '../web/error-replies.ts';
import { ActiveRun, latestRun, makeRunUpdate, type RunUpdate } from './run-progress.ts';

const MOST_NOTICES = 20;

/** The runs of this process, one per file. They continue when the page is closed. */
export class Runs {
  readonly #dependencies: UiDependencies;
  readonly #runs = new Map<string, ActiveRun>();
  readonly #working = new Map<string, Promise<void>>();
  #isClosing = false;

  constructor(dependencies: UiDependencies) {
    this.#dependencies = dependencies;
  }

  isWorking(file: string): boolean {
    return this.#working.has(file);
  }

  /** Starts a run, which spends at most the job's budget. @throws RefusedRequest if one is already running */
  start(file: string, job: Job): void {
    if (this.#isClosing) throw new RefusedRequest(503, 'CLOSING', 'Perilbook is stopping', 'Start perilbook ui again.');
    // Registered before the first await, so that a second click sees the first run.
    if (this.isWorking(file)) {
      const message = 'A run of this file is already in progress';
      throw new RefusedRequest(409, 'RUNNING', message, 'Stop it or wait until it ends.');
    }
    if (job.budget === null) throw new PerilbookError('NEEDS_APPROVAL', 'Missing budget', 'Set a budget.');
    const active = new ActiveRun(this.#dependencies.clock.now(), job.budget);
    this.#runs.set(file, active);
    const work = this.#work(active, job).finally(() => this.#working.delete(file));
    this.#working.set(file, work);
  }

  /** Makes no new calls, finishes the calls in flight, and writes the output. */
  stop(file: string): void {
    const active = this.#runs.get(file);
    if (!active || !this.isWorking(file)) {
      throw new RefusedRequest(409, 'NOT_RUNNING', 'No run of this file is in progress', 'Reload the page.');
    }
    active.phase = 'stopping';
    active.interruption.abort();
  }

  /** The state of a file's run; null if this process has not run it. */
  update(file: string): RunUpdate | null {
    const active = this.#runs.get(file);
    return active ? makeRunUpdate(active, steadyTime(this.#dependencies.clock)) : null;
  }

  /** Stops all runs and waits for their outputs; resolves to their number. */
  async close(): Promise<number> {
    this.#isClosing = true;
    const working = [...this.#working];
    for (const [file] of working) this.stop(file);
    await Promise.all(working.map(([, work]) => work));
    return working.length;
  }

  async #work(active: ActiveRun, job: Job): Promise<void> {
    const { store, connectionOf } = this.#dependencies;
    const effects = pageEffects(this.#dependencies, (message) => {
      if (active.notices.length < MOST_NOTICES) active.notices.push(withoutTerminal(message));
    });
    try {
      const connection = await connectionOf(job);
      active.source = connection.kind === 'local' || !connection.sample ? connection.kind : 'sample';
      const { progress, interruption } = active;
      const ports = { connection, store, effects, progress, interrupt: interruption.signal };
      // The user has approved the budget, which is in the job.
      const approve = (prepared: Prepared) => {
        active.available = prepared.plan.available;
        active.facts = runFacts(prepared);
        if (active.phase === 'reading') active.phase = 'buying';
      };
      using _ = await runJob(await openContext(job, ports), { approve });
      active.end = await latestRun(store, job.output);
      active.phase = 'ended';
    } catch (error) {
      active.error = makeErrorMessage(error);
      active.phase = 'failed';
      if (active.error.code === 'BUG') this.#dependencies.onBug(error);
    }
  }
}
