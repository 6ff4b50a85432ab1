import type { PointLayer } from '../../contract/layers/layer-description.ts';
import type { Layer } from '../tables/layers.ts';
import { datasetOfLayer } from '../zones/zone-layers.ts';
import { featureLoader } from './feature-loader.ts';
import type { Loader } from './loader.ts';

/** The loader of a layer of places: their files are of all that the layer covers. */
export function siteLayerLoader(layer: PointLayer): Loader {
  const { lat, lng, vintage } = layer;
  return featureLoader(datasetOfLayer(layer) as Layer, {
    describe: `${layer.title}, by its description: places`,
    source: layer.publisher ?? layer.title,
    licence: layer.licence ?? '',
    signature: { shapes: ['points', 'lines', 'outlines'] },
    isOfUs: true,
    options: { ...(lat !== undefined && { lat }), ...(lng !== undefined && { lng }) },
    ...(typeof vintage === 'object' && { vintage: { names: vintage.from, as: vintage.as } }),
    ...(typeof vintage === 'string' && { vintageOfName: () => vintage }),
  });
}
