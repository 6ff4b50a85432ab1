import type { TopicSlug } from '../contract/topics.ts';
import { manualLoader } from '../data/sources/source-table.ts';
import { PerilbookError } from '../errors.ts';
import { readLocalData } from '../run/look-up/local-data.ts';
import { topicWords } from '../run/look-up/place-answers.ts';
import type { Job } from '../run/settings/settings.ts';
import { canAsk } from './ask-yes.ts';
import type { Flags } from './command.ts';
import { type CliContext, say } from './context.ts';
import { openDataSettings } from './data-settings.ts';
import { statesOfJob } from './states-of-file.ts';

/**
 * On a terminal, offers to get the data that some topics of a job lack, for the states of its input, where its other topics are answered
 * from local data. After a no, and where nobody can be asked, the run goes on without. `--yes` is about credits, and downloads nothing.
 *
 * @throws PerilbookError INPUT_* as the scan of the run does; INTERRUPTED when the download is stopped
 */
export async function offerData(context: CliContext, flags: Flags, job: Job): Promise<void> {
  if (flags.yes || flags.quiet || flags.json || flags.plan !== undefined || job.input === '-' || !canAsk(context))
    return;
  const lacking = topicsWithoutData(job, context.clock.now());
  if (lacking.length === 0) return;
  const states = await statesOfJob(context, job);
  using settings = openDataSettings(context, {}, job.dataFile);
  const { sources } = settings;
  const published = lacking.filter((topic) => states.some((state) => manualLoader(topic, state, sources) === null));
  if (published.length === 0) return;
  say(context, `No data here for ${topicWords(published).replaceAll(' ', ', ')}. It can be downloaded:`);
  // Most runs download nothing: they do not wait for the web client.
  const { getData } = await import('./commands/data-get.ts');
  try {
    await getData(context, settings, published, states, {});
  } catch (error) {
    const isNo = error instanceof PerilbookError && error.code === 'INTERRUPTED' && !context.interrupt.aborted;
    if (!isNo) throw error;
    say(context, `${error.message}: the run goes on without.`);
  }
}

/** The topics of a job without data, where local data answers the others. Beside made-up data, real data has no effect. */
function topicsWithoutData({ service, dataFile, topics }: Job, now: number): TopicSlug[] {
  if (service.kind === 'remote' || (service.kind === 'sample' && !service.isDefault)) return [];
  const data = readLocalData(dataFile, now);
  if (data === null || data.sample) return [];
  const lacking = topics.filter((topic) => !data.topics.has(topic));
  return lacking.length < topics.length ? lacking : [];
}
