import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { PerilbookError } from '../base/errors.ts';
import { isPipe } from '../base/pipes.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { manualLoader } from '../data/sources/source-table.ts';
import { onDataFile } from '../data/tables/data-database.ts';
import type { Job } from '../job/settings.ts';
import { BOUNDARY_SOURCES } from '../library/get-command.ts';
import { requireAreas } from '../library/open-areas.ts';
import { readLocalData } from '../run/look-up/local-data.ts';
import { topicsText } from '../run/look-up/place-answers.ts';
import type { Flags } from './command-table.ts';
import { type CliContext, runHost, say } from './context.ts';
import { openDataSettings, readSources } from './data-settings.ts';
import { areaOfJob, type LocationsArea } from './states-of-file.ts';

/** Offers to download the data that topics of a job lack, for the states of its input; or the boundaries for `areas`, if a service
 * answers. Call it only on a terminal. After a no the run continues without the data where other topics have theirs; without any data,
 * and without boundaries, it ends. `--yes` approves credits, not downloads.
 * @throws PerilbookError INPUT_* as the scan of the run does; SERVICE_DATA after a no to boundaries; INTERRUPTED when the download is
 * stopped */
export async function offerData(context: CliContext, flags: Flags<'run'>, job: Job): Promise<void> {
  // To look for the states of a pipe would leave the run nothing to read.
  if (flags.yes || flags.quiet || flags.json || job.input === '-' || isPipe(job.input)) return;
  const lacking = topicsWithoutData(job, context.clock.now());
  const published = await publishedFor(context, job, lacking);
  if (published !== null) {
    say(
      context,
      `No data here for ${topicsText(published.topics as TopicSlug[]).replaceAll(' ', ', ')}. It can be downloaded:`,
    );
    const refused = await getUnlessRefused(context, job, published);
    if (refused !== null && lacking.length < job.topics.length)
      say(context, `${refused.message}. The run continues without the data.`);
  }
  await offerBoundaries(context, job);
}

/** Offers to download the boundaries that `areas` needs, where they are not here. */
async function offerBoundaries(context: CliContext, job: Job): Promise<void> {
  const host = runHost(context);
  if (job.areas === null || job.service.kind === 'local') return;
  try {
    requireAreas(host, job);
  } catch (error) {
    if (!(error instanceof PerilbookError) || error.code !== 'SERVICE_DATA') throw error;
    const area = await areaOfJob(context, job);
    if (area.states.length === 0) throw error;
    say(context, `${error.message}. They can be downloaded:`);
    const refused = await getUnlessRefused(context, job, { topics: [BOUNDARY_SOURCES[job.areas]], area });
    if (refused !== null) throw error;
  }
}

/** Asks, and downloads after a yes. @returns the error that says no; null after the download */
async function getUnlessRefused(
  context: CliContext,
  job: Job,
  published: PublishedData,
): Promise<PerilbookError | null> {
  try {
    await getPublished(context, job, published, {});
    return null;
  } catch (error) {
    if (error instanceof PerilbookError && error.code === 'INTERRUPTED' && !context.interrupt.aborted) return error;
    throw error;
  }
}

/** For the page: lists the data that the topics of a job lack, as `perilbook data get` prints it; null if there is none to download.
 * @param isApproved whether to download and load it; the text then lists what was loaded
 * @throws PerilbookError INPUT_* as the scan of the run does */
export async function dataForPage(context: CliContext, job: Job, isApproved: boolean): Promise<string | null> {
  const published = await publishedFor(context, job, topicsWithoutData(job, context.clock.now()));
  if (published === null) return null;
  const output = new PassThrough();
  const { log: _, ...others } = context;
  const collected = { ...others, isQuiet: false, stdin: new PassThrough(), stderr: output, stdout: output };
  await getPublished(collected, job, published, isApproved ? { yes: true } : { 'dry-run': true });
  output.end();
  return (await text(output)).trim();
}

/** The topics of a job without data here. Beside made-up data, real data has no effect. */
function topicsWithoutData({ service, dataFile, topics }: Job, now: number): TopicSlug[] {
  if (service.kind !== 'local') return [];
  const data = readLocalData(dataFile, now);
  return data?.sample ? [] : topics.filter((topic) => !data?.topics.has(topic));
}

interface PublishedData {
  /** Topics, or a source of boundaries. */
  readonly topics: readonly string[];
  /** Of the job's input. */
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
  const topics = lacking.filter((topic) => area.states.some((state) => manualLoader(topic, state, sources) === null));
  return topics.length === 0 ? null : { topics, area };
}

async function getPublished(context: CliContext, job: Job, { topics, area }: PublishedData, flags: Flags<'data get'>) {
  using settings = openDataSettings(context, {}, job.dataFile);
  // Loaded here, because most runs download nothing.
  const { getData } = await import('./commands/data-get.ts');
  await onDataFile(settings.file, () => getData(context, settings, topics, area, flags));
}
