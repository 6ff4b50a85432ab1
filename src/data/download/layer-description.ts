import { z } from 'zod';
import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';
import type { DownloadContext } from './download-file.ts';
import { type LayerRequest, layerAddress } from './layer-request.ts';
import { getArcgisJson } from './web-client.ts';

const layerInfo = z.object({
  maxRecordCount: z.number().positive().optional(),
  objectIdField: z.string().nullish(),
  fields: z.array(z.object({ name: z.string(), type: z.string().optional() })).nullish(),
  supportedQueryFormats: z.string().nullish(),
  advancedQueryCapabilities: z
    .object({
      supportsPagination: z.boolean().optional(),
      supportsReturningQueryExtent: z.boolean().optional(),
    })
    .nullish(),
  editingInfo: z
    .object({ lastEditDate: z.number().nullish(), dataLastEditDate: z.number().nullish() })
    .nullish(),
});

/** A layer of an ArcGIS server. */
export interface ArcgisLayer {
  /** The field with the number of a row. */
  readonly idField: string;
  readonly fields: readonly string[];
  readonly pageRows: number;
  /** Of rows without geometries. */
  readonly mostRows: number;
  /** Whether it gives the extent of a query. */
  readonly hasExtent: boolean;
  readonly hasOffset: boolean;
  /** When it was edited, in milliseconds since the epoch; null where it does not say. */
  readonly edited: number | null;
}

const PAGE_ROWS = 2_000;

/** Requests a layer's description. @throws PerilbookError DOWNLOAD_FAILED where the address describes no layer, or one without what is needed */
export async function fetchLayer(
  { layer, as, fields, pageRows }: LayerRequest,
  context: DownloadContext,
): Promise<ArcgisLayer> {
  const read = layerInfo.safeParse(
    await getArcgisJson(layerAddress(layer, '', { f: 'json' }), context),
  );
  const info = read.success ? read.data : {};
  const all = info.fields ?? [];
  const idField = info.objectIdField ?? all.find(({ type }) => type === 'esriFieldTypeOID')?.name;
  if (idField === undefined || all.length === 0) {
    throw downloadFailed(
      `${layer} does not describe its fields: it is not a layer any more`,
      ADDRESS_MOVED,
    );
  }
  const wanted = all
    .map(({ name }) => name)
    .filter((name) => fields === undefined || new RegExp(fields).test(name));
  if (wanted.length === 0)
    throw downloadFailed(
      `${layer} has none of the fields that are needed: ${fieldNames(fields!)}`,
      ADDRESS_MOVED,
    );
  if (
    as === 'geojson' &&
    info.supportedQueryFormats &&
    !/geojson/i.test(info.supportedQueryFormats)
  ) {
    throw downloadFailed(`${layer} does not give GeoJSON any more`, ADDRESS_MOVED);
  }
  return {
    idField,
    fields: wanted,
    pageRows: Math.min(pageRows ?? PAGE_ROWS, info.maxRecordCount ?? PAGE_ROWS),
    mostRows: Math.min(PAGE_ROWS, info.maxRecordCount ?? PAGE_ROWS),
    hasExtent: info.advancedQueryCapabilities?.supportsReturningQueryExtent === true,
    hasOffset: info.advancedQueryCapabilities?.supportsPagination !== false,
    edited: info.editingInfo?.dataLastEditDate ?? info.editingInfo?.lastEditDate ?? null,
  };
}

/** `^(CountyFIPS|RadonZone)$` as names; a bar inside other brackets stays. */
const fieldNames = (pattern: string): string =>
  pattern.replace(/^\^\(?|\)?\$$/g, '').replace(/\|(?![^(]*\))/g, ', ');
