import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files that describe layers: `NAME.layer.yaml` in some folders, and every YAML file in the folder `layers` of the data folder.
 * @param layersFolder that folder; null if there is none */
export function layerFiles(folders: readonly string[], layersFolder: string | null): string[] {
  const namesIn = (folder: string) => {
    try {
      return readdirSync(folder).sort();
    } catch {
      return [];
    }
  };
  const beside = [...new Set(folders)].flatMap((folder) =>
    namesIn(folder).flatMap((name) => (/\.layer\.ya?ml$/i.test(name) ? [join(folder, name)] : [])),
  );
  const own =
    layersFolder === null
      ? []
      : namesIn(layersFolder).flatMap((name) =>
          /\.ya?ml$/i.test(name) ? [join(layersFolder, name)] : [],
        );
  return [...new Set([...beside, ...own])];
}
