import { sleepUntilSteady, steadyTime, timeLimit } from '../../clock.ts';
import { openDataDatabase } from '../../data/tables/data-database.ts';
import { PerilbookError } from '../../errors.ts';
import { durationMs } from '../../run/settings/duration.ts';
import { type CliContext, say } from '../context.ts';
import type { SourceFlags } from '../data-settings.ts';
import { sourcesOf } from '../data-settings.ts';
import { sourceOutcomeMessages } from '../messages/download-messages.ts';
import type { StartFlags } from '../service-options.ts';
import { downloadedSources, updateSources } from '../update-sources.ts';

/** The agencies do not publish more often, and their servers must not be overloaded. */
const LEAST_INTERVAL_MS = 5 * 60_000;

/** An update that takes longer is aborted; the next one resumes it. */
const LONGEST_UPDATE_MS = 30 * 60_000;

/** The updates of a running service. */
export interface ServiceUpdates {
  readonly intervalMs: number;
  /** The options of `perilbook data update`: --mirror and --sources. */
  readonly flags: SourceFlags;
}

/** The updates that the flags ask for, or null without --update-every. @throws USAGE */
export function serviceUpdatesOf(context: CliContext, flags: StartFlags): ServiceUpdates | null {
  const interval = flags['update-every'];
  const { mirror, sources } = flags;
  if (interval === undefined) {
    if (mirror === undefined && sources === undefined) return null;
    const flag = mirror === undefined ? '--sources' : '--mirror';
    throw new PerilbookError('USAGE', `${flag} needs --update-every`, 'For example: --update-every 1h.');
  }
  const intervalMs = durationMs(interval);
  if (intervalMs === null || intervalMs < LEAST_INTERVAL_MS) {
    const problem = intervalMs === null ? 'is not a duration' : 'is shorter than 5 minutes';
    throw new PerilbookError('USAGE', `--update-every ${interval} ${problem}`, 'Write it like 1h.');
  }
  const updates = { intervalMs, flags: { mirror, sources } };
  // Refuses a wrong mirror or file before the service starts. Each update reads the file again.
  sourcesOf(context, updates.flags);
  return updates;
}

/**
 * Updates the downloaded near real-time sources at once and then at each interval, until the context's signal aborts.
 * An interval begins when the previous update has ended, so two updates never overlap. After an error the service
 * answers from the old data. The service's own connection only reads, so each update opens one for writing.
 */
export async function keepUpdated(
  context: CliContext,
  file: string,
  { intervalMs, flags }: ServiceUpdates,
): Promise<void> {
  const { clock, interrupt } = context;
  while (!interrupt.aborted) {
    await updateOnce(context, file, flags).catch((error: unknown) => {
      if (!interrupt.aborted) sayUpdate(context, failureText(error));
    });
    await sleepUntilSteady(clock, steadyTime(clock) + intervalMs, interrupt);
  }
}

async function updateOnce(context: CliContext, file: string, flags: SourceFlags): Promise<void> {
  const { sources, ...folders } = sourcesOf(context, flags);
  const live = sources.filter(({ isNearRealTime }) => isNearRealTime === true);
  const wanted = downloadedSources(live, folders.downloads);
  if (wanted.length === 0) {
    const names = live.map(({ name }) => name).join(' ');
    return sayUpdate(context, `no near real-time source is downloaded. Get them: perilbook data get ${names}`);
  }
  using opened = new DisposableStack();
  const database = opened.use(openDataDatabase(file));
  using limit = timeLimit(context.clock, LONGEST_UPDATE_MS);
  const bounded = { ...context, interrupt: AbortSignal.any([context.interrupt, limit.signal]) };
  try {
    await updateSources(bounded, { ...folders, sources, file, open: () => database }, wanted, false, (outcome) => {
      // An unchanged source would print a line each hour.
      if (outcome.loaded !== undefined || outcome.error !== undefined) {
        sayUpdate(context, sourceOutcomeMessages(outcome).join('\n'));
      }
    });
  } catch (error) {
    if (!limit.signal.aborted) throw error;
    throw new PerilbookError(
      'DOWNLOAD_FAILED',
      'The update was stopped after 30 minutes',
      'The next update resumes it. The stored data is unchanged.',
    );
  }
}

function failureText(error: unknown): string {
  if (error instanceof PerilbookError) return `${error.message}\n  ${error.hint} [${error.code}]`;
  return error instanceof Error ? error.message : String(error);
}

function sayUpdate(context: CliContext, text: string): void {
  say(context, `perilbook service: update: ${text}`);
}
