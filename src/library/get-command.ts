import { topicWords } from '../job/lookup/place-answers.ts';
import type { Job } from '../job/settings/settings.ts';
import { shownPath } from '../shown-path.ts';

/** The command that gets the agencies' data for a job. */
export function getCommand({ topics, input }: Pick<Job, 'topics' | 'input'>, folder: string): string {
  const states = input === '-' ? '--states ST,…' : `--for ${shownPath(input, folder)}`;
  return `perilbook data get ${topicWords(topics)} ${states}`;
}

/** The sources of `perilbook data get` that hold the boundaries of each level. */
const SOURCE_OF = { tract: 'areas', county: 'counties' } as const;

/** The command that gets the boundaries for the locations of an input. */
export function getBoundariesCommand(level: 'tract' | 'county', input: string, folder: string): string {
  const file = input === '-' ? 'FILE' : shownPath(input, folder);
  return `perilbook data get ${SOURCE_OF[level]} --for ${file}`;
}
