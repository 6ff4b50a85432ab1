import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { PerilbookError } from '../../base/errors.ts';
import { isPipe } from '../../base/pipes.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { manualLoader } from '../../data/sources/source-table.ts';
import { onDataFile } from '../../data/tables/data-database.ts';
import type { Job } from '../../job/settings.ts';
import { divideTopics } from '../../job/topic-choice.ts';
import { readLocalData } from '../../run/frame/local-data.ts';
import { topicsText } from '../../run/look-up/place-answers.ts';
import type { Flags } from '../options/command-table.ts';
import { type CliContext, say } from './context.ts';
import { openDataSettings, readSources } from './data-settings.ts';
import { areaOfJob, type LocationsArea } from './states-of-file.ts';

/** Offers to download the data that topics of a job lack, for the states of its input. Call it only on a terminal. After a no the run
 * continues without the data where other topics have theirs; without any data it ends. `--yes` approves credits, not downloads.
 * @throws PerilbookError INPUT_* as the scan of the run does; INTERRUPTED when the download is stopped */
export async function offerData(context: CliContext, flags: Flags<'run'>, job: Job): Promise<void> {
  // To look for the states of a pipe would leave the run nothing to read.
  if (flags.yes || flags.quiet || flags.json || job.input === '-' || isPipe(job.input)) return;
  const lacking = topicsWithoutData(job, context.clock.now());
  const published = await publishedFor(context, job, lacking);
  if (published === null) return;
  say(
    context,
    `No data here for ${topicsText(published.topics).replaceAll(' ', ', ')}. It can be downloaded:`,
  );
  try {
    await getPublished(context, job, published, {});
  } catch (error) {
    const isRefused =
      error instanceof PerilbookError && error.code === 'INTERRUPTED' && !context.interrupt.aborted;
    if (!isRefused) throw error;
    if (lacking.length < job.topics.length)
      say(context, `${error.message}. The run continues without the data.`);
  }
}

/** For the page: lists the data that the topics of a job lack, as `perilbook data get` prints it; null if there is none to download.
 * @param isApproved whether to download and load it; the text then lists what was loaded
 * @throws PerilbookError INPUT_* as the scan of the run does */
export async function dataForPage(
  context: CliContext,
  job: Job,
  isApproved: boolean,
): Promise<string | null> {
  const published = await publishedFor(context, job, topicsWithoutData(job, context.clock.now()));
  if (published === null) return null;
  const output = new PassThrough();
  const { log: _, ...others } = context;
  const collected = {
    ...others,
    isQuiet: false,
    stdin: new PassThrough(),
    stderr: output,
    stdout: output,
  };
  await getPublished(collected, job, published, isApproved ? { yes: true } : { 'dry-run': true });
  output.end();
  return (await text(output)).trim();
}

/** The topics of a job without data here. Beside made-up data, real data has no effect. */
function topicsWithoutData({ service, dataFile, topics }: Job, now: number): TopicSlug[] {
  const { asked, beside } = divideTopics(service.kind, topics);
  const local = service.kind === 'local' ? asked : beside;
  if (local.length === 0) return [];
  const data = readLocalData(dataFile, now);
  return data?.sample ? [] : local.filter((topic) => !data?.topics.has(topic));
}

/** Topics without data here, and the states that the input is in. */
interface PublishedData {
  readonly topics: readonly TopicSlug[];
  readonly area: LocationsArea;
}

/** The missing data that agencies publish for the input; null if they publish none of it. */
async function publishedFor(
  context: CliContext,
  job: Job,
  lacking: readonly TopicSlug[],
): Promise<PublishedData | null> {
  if (lacking.length === 0) return null;
  const area = await areaOfJob(context, job);
  const { sources } = readSources(context, {});
  const topics = lacking.filter((topic) =>
    area.states.some((state) => manualLoader(topic, state, sources) === null),
  );
  return topics.length === 0 ? null : { topics, area };
}

async function getPublished(
  context: CliContext,
  job: Job,
  { topics, area }: PublishedData,
  flags: Flags<'data get'>,
) {
  using settings = openDataSettings(context, {}, job.dataFile);
  // Loaded here, because most runs download nothing.
  const { getData } = await import('../commands/data-get.ts');
  await onDataFile(settings.file, () => getData(context, settings, topics, area, flags));
}
