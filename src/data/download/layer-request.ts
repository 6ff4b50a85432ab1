import { hash } from 'node:crypto';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { LayerDownload } from '../sources/source.ts';

export interface LayerRequest extends Pick<LayerDownload, 'fields' | 'simplifiedBy' | 'pageRows'> {
  readonly layer: string;
  readonly where: string;
  readonly box?: Box | undefined;
  /** Only the features that touch one of these boxes; each comes once. */
  readonly tiles?: readonly Box[] | undefined;
  readonly as: 'csv' | 'geojson';
  readonly target: string;
  readonly mostBytes: number;
  /** When a layer without an edit date is read again. */
  readonly staleAfterMs: number;
  /** A state of a layer of the whole US may have no rows; a layer without any is an error. */
  readonly mayBeEmpty?: boolean;
}

export interface LayerFeature {
  readonly id?: unknown;
  readonly geometry?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

export interface PageAnswer {
  readonly features?: readonly LayerFeature[];
  readonly exceededTransferLimit?: unknown;
  readonly properties?: { readonly exceededTransferLimit?: unknown };
  readonly crs?: { readonly properties?: { readonly name?: unknown } };
}

/** The attributes of a feature: Esri JSON and GeoJSON name them differently. */
export const attributesOf = ({
  attributes,
  properties,
}: LayerFeature): Readonly<Record<string, unknown>> => attributes ?? properties ?? {};

/** The identity of a layer's file: address, filter, fields and simplification. */
export function requestAddress(request: LayerRequest): string {
  const { where, fields = '*', as, tiles } = request;
  const ofTiles = tiles === undefined ? {} : { tiles: hash('sha1', JSON.stringify(tiles)) };
  const parameters = { where, outFields: fields, f: as, ...simplification(request), ...ofTiles };
  return formatQuery(request, parameters);
}

/** The address of a query: with the box of the request where it has one. */
export function formatQuery(
  { layer, box }: LayerRequest,
  parameters: Readonly<Record<string, string>>,
): string {
  const bounds = box && {
    geometry: `${box.minLng},${box.minLat},${box.maxLng},${box.maxLat}`,
    geometryType: 'esriGeometryEnvelope',
    inSR: '4326',
    spatialRel: 'esriSpatialRelIntersects',
  };
  return layerAddress(layer, '/query', { ...parameters, ...bounds });
}

/** An address below a layer; the layer's own may have parameters, such as a token. */
export function layerAddress(
  layer: string,
  path: string,
  parameters: Readonly<Record<string, string>>,
): string {
  const [place = '', query] = layer.split('?');
  return `${place}${path}?${new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(query)),
    ...parameters,
  })}`;
}

/** The parameter that simplifies outlines; none where they are taken as they are. */
export const simplification = ({ simplifiedBy }: LayerRequest): Readonly<Record<string, string>> =>
  simplifiedBy === undefined ? {} : { maxAllowableOffset: String(simplifiedBy) };
