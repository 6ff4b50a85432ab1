import { shownPath } from '../base/shown-path.ts';
import type { Job } from '../job/settings.ts';
import { topicsText } from '../run/look-up/place-answers.ts';

/** The command that gets the agencies' data for a job; for a single location, the data of its state. */
export function getCommand(job: Pick<Job, 'topics' | 'input'>, folder: string, state?: string): string {
  return `perilbook data get ${topicsText(job.topics)} ${placesOption(job, folder, state)}`;
}

/** The command that gets the boundaries, which every look-up needs. */
export function getAllBoundariesCommand(job: Pick<Job, 'input'>, folder: string, state?: string): string {
  return `perilbook data get areas counties ${placesOption(job, folder, state)}`;
}

function placesOption({ input }: Pick<Job, 'input'>, folder: string, state?: string): string {
  if (input !== '-') return `--for ${shownPath(input, folder)}`;
  return `--states ${state ?? 'STATE'}`;
}

/** The sources of `perilbook data get` that hold the boundaries of each level. */
const BOUNDARY_SOURCES = { tract: 'areas', county: 'counties' } as const;

/** The command that gets the boundaries for the locations of an input. */
export function getBoundariesCommand(level: 'tract' | 'county', input: string, folder: string): string {
  const file = input === '-' ? 'FILE' : shownPath(input, folder);
  return `perilbook data get ${BOUNDARY_SOURCES[level]} --for ${file}`;
}
