import { arcgisToGeoJSON } from '@terraformer/arcgis';
import type { MakeContentError } from '../bytes/byte-source.ts';
import { type ToDegrees, toDegrees } from '../shapefile/coordinate-system.ts';

/* Esri JSON, which ArcGIS services answer with f=json: attributes in place of properties, rings in place of polygons. */

/** A feature as GeoJSON has it. */
export interface ConvertedFeature {
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A feature of Esri JSON as GeoJSON; null for another object. */
export function convertEsriFeature(
  feature: object,
  convert: ToDegrees | null,
): ConvertedFeature | null {
  if (!('attributes' in feature) || 'properties' in feature) return null;
  const { geometry, properties } = arcgisToGeoJSON(feature as never) as unknown as {
    readonly geometry: { readonly type: string; readonly coordinates: unknown } | null;
    readonly properties: Readonly<Record<string, unknown>> | null;
  };
  const drawn =
    geometry === null || convert === null
      ? geometry
      : { ...geometry, coordinates: convertedPositions(geometry.coordinates, convert) };
  return { geometry: drawn, properties: properties ?? {} };
}

const DEGREES = [4326, 4269, 4979];
/** Web Mercator, by all its numbers. */
const WEB_MERCATOR = [3857, 102100, 102113, 900913];
/** The radius of its sphere, in metres. */
const SPHERE = 6_378_137;

/** Makes the function that converts the positions of a file to degrees, from the text around its features; null if they are in degrees, or
 * the text names no system.
 * @throws the error of `refused` for an unknown system */
export function esriToDegrees(around: string, refused: MakeContentError): ToDegrees | null {
  const text = /"spatialReference"\s*:\s*(\{[^{}]*\})/.exec(around)?.[1];
  if (text === undefined) return null;
  const { wkid, latestWkid, wkt } = JSON.parse(text) as {
    readonly wkid?: number;
    readonly latestWkid?: number;
    readonly wkt?: string;
  };
  const ids = [wkid, latestWkid].filter((id) => id !== undefined);
  if (ids.some((id) => DEGREES.includes(id))) return null;
  if (ids.some((id) => WEB_MERCATOR.includes(id))) return fromWebMercator;
  if (wkt !== undefined) return toDegrees(wkt, refused);
  const hint = 'Add outSR=4326 to the query of the service, or f=geojson.';
  throw refused(`has its coordinates in EPSG:${ids.at(-1) ?? '(none)'}`, hint);
}

function fromWebMercator([x, y]: readonly number[]): number[] {
  const degrees = 180 / Math.PI;
  return [(x! / SPHERE) * degrees, (2 * Math.atan(Math.exp(y! / SPHERE)) - Math.PI / 2) * degrees];
}

function convertedPositions(member: unknown, convert: ToDegrees): unknown {
  if (!Array.isArray(member)) return member;
  return typeof member[0] === 'number'
    ? convert(member as number[])
    : member.map((inner) => convertedPositions(inner, convert));
}
