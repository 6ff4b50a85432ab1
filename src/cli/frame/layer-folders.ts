import { join } from 'node:path';
import { dataFolderOf } from '../../base/platform-folders.ts';
import { layerFiles } from '../../job/layer-files.ts';
import type { CliContext } from './context.ts';

/** The files that describe layers for a command: beside its job files, in the working folder, and in the folder of data.
 * @param beside the folders of its job files */
export function describedLayerFiles(
  { env, workingFolder }: Pick<CliContext, 'env' | 'workingFolder'>,
  beside: readonly string[],
): string[] {
  const folder = dataFolderOf(env);
  return layerFiles([...beside, workingFolder], folder === null ? null : join(folder, 'layers'));
}
