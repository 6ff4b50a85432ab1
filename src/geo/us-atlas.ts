import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { GeometryCollection, Topology } from 'topojson-specification';

type NamedShapes = GeometryCollection<{ readonly name: string }>;

export type Atlas = Topology<{
  counties: NamedShapes;
  states: NamedShapes;
  nation: GeometryCollection;
}>;

/** The Census Bureau's boundaries at 1:10m in degrees (us-atlas package), with DC and the territories. Its readers keep what
 * they make of it: parsed it takes 10 MB. The nation of `states-10m` is simplified without the counties and has a tenth of its edges elsewhere. */
export function usAtlas(file: 'counties-10m' | 'states-10m'): Atlas {
  const path = createRequire(import.meta.url).resolve(`us-atlas/${file}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as Atlas;
}

/** The names of states or counties by their census code. */
export function censusNames(of: 'states' | 'counties'): ReadonlyMap<string, string> {
  const { geometries } = usAtlas('counties-10m').objects[of];
  return new Map(
    geometries.map(({ id, properties }) => [String(id), (properties as { name: string }).name]),
  );
}
