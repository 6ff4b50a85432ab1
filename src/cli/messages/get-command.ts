import { topicWords } from '../../job/lookup/place-answers.ts';
import type { Job } from '../../job/settings/settings.ts';
import { shownPath } from './format.ts';

/** The command that gets the agencies' data for a job. */
export function getCommand({ topics, input }: Pick<Job, 'topics' | 'input'>, folder: string): string {
  const states = input === '-' ? '--states ST,…' : `--for ${shownPath(input, folder)}`;
  return `perilbook data get ${topicWords(topics)} ${states}`;
}
