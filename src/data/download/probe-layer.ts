import type { DownloadContext } from './download-file.ts';
import { type ArcgisLayer, fetchLayer } from './layer-description.ts';
import { fetchPage } from './layer-pages.ts';
import { fetchCount, fetchNewest } from './layer-queries.ts';
import type { LayerFeature, LayerRequest } from './layer-request.ts';

/** A layer with its count and its first rows. */
interface ProbedLayer extends ArcgisLayer {
  readonly count: number;
  readonly features: readonly LayerFeature[];
  /** The time of the newest row, as the layer has it. */
  readonly newest: unknown;
}

const FIRST_ROWS = 100;

/** Requests a layer's description, count and first rows, to check that it exists and is as expected.
 * @param findTime names the field with the time of a row, by which the newest row is found; null for none */
export async function probeLayer(
  request: LayerRequest,
  findTime: (fields: readonly string[]) => string | null,
  context: DownloadContext,
): Promise<ProbedLayer> {
  const layer = await fetchLayer(request, context);
  const count = await fetchCount(request, context);
  const first = { rows: 0, lastId: 0 };
  const { features } = await fetchPage(
    request,
    layer,
    first,
    Math.min(FIRST_ROWS, layer.pageRows),
    context,
  );
  const time = findTime(layer.fields);
  return {
    ...layer,
    count,
    features,
    newest: time === null ? null : await fetchNewest(request, time, context),
  };
}
