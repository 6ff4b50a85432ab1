import { PerilbookError } from '../../base/errors.ts';
import { memo } from '../../base/memo.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import type { LayerDescription } from '../../contract/layers/layer-description.ts';
import { isBuiltIn, TOPICS } from '../../contract/topics.ts';
import { airnow } from './airnow.ts';
import { areas, counties } from './boundaries.ts';
import { COUNTY_LOADERS } from './county-loaders.ts';
import { areaLayerLoader } from './described-areas.ts';
import { siteLayerLoader } from './described-sites.ts';
import {
  earthquakes,
  wildfireHistory,
  wildfireIncidents,
  wildfirePerimeters,
} from './event-loaders.ts';
import type { Loader } from './loader.ts';
import { nri } from './nri.ts';
import { SITE_LOADERS } from './site-loaders.ts';
import { hail, tornado } from './storm-reports.ts';
import { hurdat2, ibtracs } from './storm-tracks.ts';
import { floodZones, polygonLoader } from './zone-loaders.ts';

const TABLE = {
  areas,
  counties,
  nri,
  ...SITE_LOADERS,
  earthquakes,
  hail,
  tornado,
  hurdat2,
  ibtracs,
  'wildfire-incidents': wildfireIncidents,
  'wildfire-history': wildfireHistory,
  'wildfire-perimeters': wildfirePerimeters,
  ...COUNTY_LOADERS,
  airnow,
  'flood-zones': floodZones,
};

export type LoaderName = keyof typeof TABLE;

/** Perilbook's own loaders by their names on the command line. */
export const LOADERS: ReadonlyMap<string, Loader> = new Map(Object.entries(TABLE));

/** The loaders of layers that a user describes: each has the name of its layer. */
export function layerLoaders(): ReadonlyMap<string, Loader> {
  const own = TOPICS.filter((topic) => !isBuiltIn(topic)).map(({ layer }) => layer!);
  return new Map(own.map((layer) => [layer.layer, loaderOfLayer(layer)]));
}

const loaderOfLayer = memo((layer: LayerDescription) => {
  if (layer.kind === 'points') return siteLayerLoader(layer);
  const { area } = layer;
  return area === undefined
    ? polygonLoader(layer, `${layer.title}, by its description: polygons`)
    : areaLayerLoader({ ...layer, area });
});

/** The loader with a name.
 * @throws PerilbookError USAGE when there is none */
export function loaderNamed(name: string): Loader {
  const loader = LOADERS.get(name) ?? layerLoaders().get(name);
  if (loader !== undefined) return loader;
  const names = ['sample', ...LOADERS.keys(), ...layerLoaders().keys()];
  const message = `There is no loader "${name}"${didYouMean(name, names)}`;
  throw new PerilbookError('USAGE', message, `Use one of: ${names.join(', ')}.`);
}
