import { metricsOutput, type ProtectedFile } from '../../run/protected-files.ts';
import type { Job } from '../../run/settings/settings.ts';
import type { RunFlags } from '../command-options.ts';
import { type CliContext, say } from '../context.ts';
import { checkFiles } from '../output-files.ts';
import { openFinishHook } from './finish-hook-call.ts';
import { finishedRun, type RunOutcome } from './finished-run.ts';

/** Called once, when a run has ended or an error has ended it: writes the metrics, then calls the hook. Never rejects. */
export type Finish = (outcome: RunOutcome) => Promise<void>;

/**
 * Prepares what a job does after its run. Reports a missing secret and a file that cannot be written before anything is
 * spent.
 *
 * @param files what else the run reads and writes
 * @throws KEY_MISSING, OUTPUT_UNWRITABLE, OUTPUT_EXISTS
 */
export async function openFinish(
  context: CliContext,
  flags: RunFlags,
  job: Job,
  files: readonly ProtectedFile[],
): Promise<Finish> {
  const { clock, version = '' } = context;
  const { metrics } = job;
  const startedAt = clock.now();
  const callHook = await openFinishHook(context, job);
  // Checked first, because metrics are written after an error too: they must not replace a file that the run reads or writes.
  if (metrics !== null) await checkFiles(flags, job, [metricsOutput(metrics)], files);
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
    await callHook?.(finishedRun(outcome, { version, job: job.name, ...times }));
  };
}
