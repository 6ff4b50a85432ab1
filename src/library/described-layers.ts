import { dirname, join } from 'node:path';
import { NO_FOLDER } from '../base/platform-folders.ts';
import { declareWithBrought } from '../contract/topics.ts';
import { layerFiles } from '../job/layer-files.ts';
import { declareLayersOf } from '../job/read-layers.ts';
import type { JobFolders } from '../job/settings.ts';

/** Declares the layers that are described in the working folder, beside a job file and in the folder of data. A description that cannot be
 * used declares no topic; `perilbook layer check` says why. */
export function declareDescribedLayers(
  { workingFolder, dataFolder }: JobFolders,
  jobFile?: string,
): void {
  const beside = jobFile === undefined ? [] : [dirname(jobFile)];
  const layersFolder = dataFolder === NO_FOLDER ? null : join(dataFolder, 'layers');
  const files = layerFiles([...beside, workingFolder], layersFolder);
  if (files.length > 0) declareLayersOf(files);
  else declareWithBrought([]);
}
