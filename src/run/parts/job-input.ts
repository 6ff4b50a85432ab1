import { counted } from '../../base/format-numbers.ts';
import type { Job } from '../../job/settings.ts';
import { openRowFile, type Streams } from '../../rows/open-row-file.ts';
import { listParts } from '../../rows/parts/list-parts.ts';
import { openPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { RowFile } from '../../rows/port.ts';

/** Opens the input of a job: one file, or its parts. @throws INPUT_* */
export async function openJobInput(
  { input, parts, reading }: Pick<Job, 'input' | 'parts' | 'reading'>,
  streams: Streams,
): Promise<RowFile | PartFiles> {
  if (parts === null) return await openRowFile(input, reading, streams);
  const listed = await listParts(parts.folder, parts.sources);
  const files = await openPartFiles(listed.parts, reading);
  const [first] = listed.unfinished;
  if (first === undefined) return files;
  const count = listed.unfinished.length;
  const notes = [files.note, `${counted(count, 'temporary file')} left out (${first}${count > 1 ? ', …' : ''}).`];
  return { ...files, note: notes.filter(Boolean).join(' ') };
}
