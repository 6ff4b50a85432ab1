import { readFile } from 'node:fs/promises';
import { Gauge, type OpenMetricsContentType, Registry } from 'prom-client';
import { openOutput, writeWhole } from '../../rows/files/output-file.ts';
import { EXIT } from '../exit-codes.ts';
import type { RunOutcome } from './finished-run.ts';

/** A metric: its name with the unit, its meaning, and its values by label; no values if they are unknown. */
interface RunMetric {
  readonly name: string;
  readonly help: string;
  readonly values: readonly { readonly value: number; readonly labels?: Readonly<Record<string, string>> }[];
}

const LAST_SUCCESS = 'perilbook_run_last_success_timestamp_seconds';

/** Writes the figures of the last run as OpenMetrics text, for the textfile collector of node_exporter. The file is
 * replaced at once, so the collector never reads half of it. All metrics are gauges: each run replaces the previous figures. Unknown
 * figures are left out, because unknown is not 0. */
export async function writeRunMetrics(
  file: string,
  job: string,
  outcome: RunOutcome,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): Promise<void> {
  const lastSuccess = outcome.exitCode === EXIT.complete ? endedAt / 1_000 : await lastSuccessIn(file);
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const metrics: RunMetric[] = [
    makeGauge('perilbook_run_exit_code', 'Exit code of the last run', outcome.exitCode),
    makeGauge('perilbook_run_duration_seconds', 'Duration of the last run', (endedAt - startedAt) / 1_000),
    makeGauge('perilbook_run_end_timestamp_seconds', 'When the last run ended', endedAt / 1_000),
    makeGauge(LAST_SUCCESS, 'When a run last ended with exit code 0', lastSuccess),
    ...(outcome.kind === 'ended' ? gatherFigures(outcome) : []),
  ];
  for (const { name, help, values } of metrics) {
    if (values.length === 0) continue;
    const labelNames = ['job', ...Object.keys(values[0]!.labels ?? {})];
    const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
    for (const { value, labels } of values) gauge.set({ job, ...labels }, value);
  }
  const text = await registry.metrics();
  const output = await openOutput({ output: file }, null);
  await writeWhole(output, undefined, () => output.write(Buffer.from(text)));
}

function makeGauge(name: string, help: string, value: number | null): RunMetric {
  return { name, help, values: value === null ? [] : [{ value }] };
}

function gatherFigures({ result: { summary }, progress }: Extract<RunOutcome, { kind: 'ended' }>): RunMetric[] {
  const { status, source } = summary;
  const rows = Object.entries(status).map(([name, value]) => ({ value, labels: { status: name } }));
  const ofRows = { name: 'perilbook_run_rows', help: 'Rows of the output by hazard_status', values: rows };
  const places = makeGauge('perilbook_run_places', 'Distinct places in the input', summary.cells);
  if (source.kind === 'local') return [ofRows, places];
  const spent = summary.credits_spent + summary.credits_unknown;
  return [
    ofRows,
    places,
    makeGauge('perilbook_run_planned_credits', 'Price of all answers that the store lacked', summary.credits),
    makeGauge('perilbook_run_spent_credits', 'Credits that the service has charged', summary.credits_spent),
    makeGauge(
      'perilbook_run_unknown_credits',
      'Credits of calls without an answer, perhaps charged',
      summary.credits_unknown,
    ),
    makeGauge(
      'perilbook_run_left_credits',
      'Credits left in this billing period when the run ended',
      summary.credits_available === null ? null : Math.max(0, summary.credits_available - spent),
    ),
    makeGauge('perilbook_run_calls', 'Calls that were answered or given up', progress.calls),
    makeGauge('perilbook_run_retries', 'Calls that were repeated', progress.retries),
    makeGauge('perilbook_run_rate_limited_calls', 'Calls that were answered with 429', progress.slowedDown),
    makeGauge('perilbook_run_failed_calls', 'Calls that failed', progress.callsFailed),
  ];
}

/** Read from the previous file and not from the store: the store may be why this run failed. */
async function lastSuccessIn(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const stored = new RegExp(`^${LAST_SUCCESS}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1];
  return stored === undefined || !Number.isFinite(Number(stored)) ? null : Number(stored);
}
