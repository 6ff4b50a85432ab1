import { PerilbookError } from '../../errors.ts';
import type { Job } from '../../job/settings/settings.ts';
import { checkOutput } from '../../rows/files/output-file.ts';
import { filesOfStore } from '../../store/store-address.ts';
import { type CliContext, say } from '../context.ts';
import { finishedRun, type RunOutcome } from './finished-run.ts';
import { openFinishHook } from './tell-finish.ts';

/** Called once, when a run has ended or an error has ended it: writes the metrics, then calls the hook. Never rejects. */
export type Finish = (outcome: RunOutcome) => Promise<void>;

/**
 * Prepares what a job does after its run. A secret that is missing and a file that cannot be written are found before anything is
 * spent.
 *
 * @throws KEY_MISSING, OUTPUT_UNWRITABLE, USAGE
 */
export async function openFinish(context: CliContext, job: Job): Promise<Finish> {
  const { clock, version = '' } = context;
  const { metrics } = job;
  const startedAt = clock.now();
  const tell = openFinishHook(context, job);
  if (metrics !== null && metrics === job.output) {
    throw new PerilbookError('USAGE', 'metrics and output name one file', 'Name another file for the metrics.');
  }
  if (metrics !== null) await checkOutput(metrics, job.input, filesOfStore(job.store));
  return async (outcome) => {
    const times = { startedAt, endedAt: clock.now() };
    try {
      if (metrics !== null) {
        const { writeRunMetrics } = await import('./run-metrics.ts');
        await writeRunMetrics(metrics, job.name, outcome, times);
      }
    } catch (error) {
      say(context, `perilbook: The metrics were not written: ${error instanceof Error ? error.message : error}`);
    }
    await tell?.(finishedRun(outcome, { version, job: job.name, ...times }));
  };
}
