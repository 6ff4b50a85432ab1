import { nearestName } from '../../base/nearest-name.ts';
import { declareLayers, withBrought } from '../../contract/topics.ts';
import { findLayers } from '../../job/read-layers.ts';
import { usageError } from '../options/command.ts';
import type { CliContext } from './context.ts';
import { describedLayerFiles } from './layer-folders.ts';

/** Declares the layers that a service sells besides the topics of its contract: those that are named, and no others.
 * @throws USAGE for a name that no description has */
export function declareSold(context: CliContext, names: readonly string[]): void {
  const { known, broken } = declareNamed(context, names);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const [first] = broken;
  const folders = 'the working folder (NAME.layer.yaml) or in the folder layers of the data folder';
  const check = first && `Or is it in ${first}? See perilbook layer check ${first}.`;
  const hint =
    near === null ? (check ?? `Descriptions stand in ${folders}.`) : `Did you mean ${near}?`;
  throw usageError(`No description of the layer ${unknown} is here`, hint);
}

/** Declares the layers of these names that are described.
 * @returns the names of all that are described, and the files of descriptions with an error */
export function declareNamed(
  context: CliContext,
  names: readonly string[],
): { readonly known: readonly string[]; readonly broken: readonly string[] } {
  if (names.length === 0) return { known: [], broken: [] };
  const { layers, broken } = findLayers(describedLayerFiles(context, []));
  const described = withBrought([...layers.values()].map(({ layer }) => layer));
  declareLayers(described.filter(({ layer }) => names.includes(layer)));
  return {
    known: described.map(({ layer }) => layer),
    broken: broken.map(({ file }) => file),
  };
}
