import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PerilbookError } from '../base/errors.ts';
import { NO_FOLDER } from '../base/platform-folders.ts';
import { isBrought, isBuiltIn, topicOf } from '../contract/topics.ts';
import { layerFiles } from '../job/layer-files.ts';
import { declareFound, findLayers, type UsableLayer } from '../job/read-layers.ts';
import type { Job, JobFolders } from '../job/settings.ts';

/** The layers that jobs of this process have described. They stay: an earlier job may still be running. */
const KNOWN = new Map<string, UsableLayer>();

/** Declares the layers that are described in the working folder, beside a job file and in the folder of data. A description that cannot be
 * used declares no topic; `perilbook layer check` says why.
 * @param make makes the job, once they are declared
 * @throws USAGE for a layer that another job of the process describes otherwise, and for one that only another job describes */
export function withDescribedLayers(
  { workingFolder, dataFolder }: JobFolders,
  jobFile: string | undefined,
  make: () => Job,
): Job {
  const beside = jobFile === undefined ? [] : [dirname(jobFile)];
  const layersFolder = dataFolder === NO_FOLDER ? null : join(dataFolder, 'layers');
  const { layers } = findLayers(layerFiles([...beside, workingFolder], layersFolder));
  for (const [name, own] of layers) {
    const before = KNOWN.get(name);
    const isOther = before !== undefined && before.file !== own.file;
    if (isOther && !isDeepStrictEqual(before.layer, own.layer))
      throw describedTwice(name, before, own);
  }
  for (const [name, own] of layers) KNOWN.set(name, own);
  declareFound([...KNOWN.values()].map(({ layer }) => layer));
  const job = make();
  const foreign = job.topics.find((name) => {
    const topic = topicOf(name);
    return !isBuiltIn(topic) && !isBrought(topic) && !layers.has(name);
  });
  if (foreign === undefined) return job;
  const message = `${foreign} is a layer of another job of this program`;
  const hint = `Its description is ${KNOWN.get(foreign)!.file}: put it beside this job, too, or into the folder layers of the data folder.`;
  throw new PerilbookError('USAGE', message, hint);
}

function describedTwice(name: string, one: UsableLayer, other: UsableLayer): PerilbookError {
  const message = `${name} is described by ${one.file}, and otherwise by ${other.file}`;
  const hint = 'Give one layer another name, or run the two jobs in processes of their own.';
  return new PerilbookError('USAGE', message, hint);
}
