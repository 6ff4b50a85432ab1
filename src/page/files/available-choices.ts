import { type ErrorCode, PerilbookError } from '../../base/errors.ts';
import { areaSuffices } from '../../columns/topic-columns.ts';
import { type AreaLevel, TOPICS, topicOf } from '../../contract/topics.ts';
import type { JobFile } from '../../job/job-file.ts';
import type { Job } from '../../job/settings.ts';
import type { UiDependencies } from '../dependencies.ts';
import { RefusedRequest } from '../web/error-replies.ts';
import type { ChosenSource } from './choice.ts';
import { withoutDataFile } from './page-words.ts';

/** The values of a setting on the page. A value that is unavailable now has the reason and what to do; an available one has null. */
type OfferedValues<Value extends string> = Readonly<Record<Value, string | null>>;

/** The choices for a file and its topics. */
export interface AvailableChoices {
  readonly sources: OfferedValues<ChosenSource>;
  /** The levels of areas by which one answer serves several places, where the boundaries on this machine can find them. */
  readonly areas: OfferedValues<AreaLevel>;
}

const NO_SERVICE = 'Start perilbook ui with --base-url and a key in PERILBOOK_API_KEY.';

/** The account for made-up answers if the page was started with a paid service: the paid account's quota must not change. */
const SAMPLE_ACCOUNT = 'sample data';

/** @param settings the topics and the input; `-` for an upload, whose path the user does not know */
export async function availableChoices(
  { jobOf, connectionOf, requireAreas }: Pick<UiDependencies, 'jobOf' | 'connectionOf' | 'requireAreas'>,
  settings: JobFile,
): Promise<AvailableChoices> {
  const area = async (level: AreaLevel): Promise<string | null> =>
    savedBy(level, jobOf(settings)) ??
    (await findRefusal(async () => requireAreas(jobOf({ ...settings, areas: level })), 'SERVICE_DATA'));
  return {
    sources: {
      local: await findRefusal(() => connectionOf(jobOf({ ...settings, service: 'local' })), 'LOCAL_DATA'),
      service: hasService(jobOf(settings)) ? null : NO_SERVICE,
      sample: null,
    },
    areas: { tract: await area('tract'), county: await area('county') },
  };
}

const SHARED: Readonly<Record<AreaLevel, string>> = {
  tract: 'No chosen topic is the same in all of a census tract: natural ratings are.',
  county: `No chosen topic is the same in all of a county: ${TOPICS.filter(({ area }) => area === 'county')
    .map(({ title }) => title.toLowerCase())
    .join(' and ')} are.`,
};

/** Why one answer for each area saves nothing; null if it may save credits. */
function savedBy(level: AreaLevel, { topics }: Pick<Job, 'topics'>): string | null {
  const isShared = topics.some((topic) => topicOf(topic).area === level && areaSuffices(topic, false));
  return isShared ? null : SHARED[level];
}

/** The settings of a job whose answers come from a source. @throws RefusedRequest where there is no paid service */
export function settingsFor(base: Job, settings: JobFile, source: ChosenSource | undefined): JobFile {
  if (source === 'service' && !hasService(base)) {
    throw new RefusedRequest(422, 'NO_SERVICE', 'This page was started without a paid service', NO_SERVICE);
  }
  return settings.service === 'sample' && hasService(base) ? { ...settings, account: SAMPLE_ACCOUNT } : settings;
}

const hasService = (job: Job): boolean => job.service.kind === 'remote';

/** The error of a step that the user can correct; null if the step succeeds. */
async function findRefusal(step: () => Promise<unknown>, code: ErrorCode): Promise<string | null> {
  try {
    await step();
    return null;
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === code)) throw error;
    // Settings of a job that the page does not have.
    return `${withoutDataFile(error.message, error.context.file)}. ${error.hint.replace(/, or set areas: \w+/, '')}`;
  }
}
