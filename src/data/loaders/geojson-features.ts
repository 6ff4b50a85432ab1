import { type CollectionText, collectionFeatures, type FeatureText } from '../../formats/json/collection-features.ts';
import { invalidFile, textBytes } from './agency-file.ts';

/** A feature of a file. */
export interface FileFeature {
  /** The line on which it begins, or its number in a file without lines; from 1. */
  readonly line: number;
  /** The feature's own id, if the file gives one. */
  readonly id?: string | number;
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Coordinate systems in degrees of longitude and latitude; NAD83 is within two metres of WGS84. */
const DEGREES = /CRS84|CRS83|EPSG:{1,2}(\d*:)?(4326|4269)$/;

/**
 * The features of a GeoJSON FeatureCollection, in batches: the file is never in memory as a whole.
 *
 * @param onMore called when the file is one page of an ArcGIS service's answer and says that there are more
 * @throws PerilbookError SERVICE_DATA when it is no FeatureCollection, ends early, or is not in degrees
 */
export async function* geojsonFeatures(
  file: string,
  onMore: () => void = () => {},
): AsyncGenerator<readonly FileFeature[], void, void> {
  const around: CollectionText = { head: '', tail: '', hasFeatures: false };
  for await (const features of collectionFeatures(textBytes(file), around)) {
    refuseOtherSystem(file, SYSTEM.exec(around.head)?.[1]);
    yield features.map((feature) => parsed(feature, file));
  }
  const { head, tail, hasFeatures } = around;
  if (!hasFeatures) {
    const what = /^\s*\{\s*"error"\s*:/.test(head)
      ? `an error from the service (${head.trim().slice(0, 100)})`
      : 'not a GeoJSON FeatureCollection';
    throw invalidFile(file, `it is ${what}`, 'Use a GeoJSON file with features.');
  }
  const envelope = envelopeOf(head + tail);
  if (envelope === null) throw invalidFile(file, 'it ends before its features do', 'Download it again.');
  refuseOtherSystem(file, envelope.crs?.properties?.name);
  if (envelope.exceededTransferLimit === true || envelope.properties?.exceededTransferLimit === true) onMore();
}

/** The system that is named before the features, so that a large file is not read to its end. */
const SYSTEM = /"crs"[^}]*"name"\s*:\s*"(?!name")([^"]+)"/;

/** The members around the features. */
interface Envelope {
  readonly crs?: { readonly properties?: { readonly name?: string } };
  readonly exceededTransferLimit?: unknown;
  readonly properties?: { readonly exceededTransferLimit?: unknown };
}

/** Null when the text is incomplete. */
function envelopeOf(text: string): Envelope | null {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return null;
  }
}

function refuseOtherSystem(file: string, system: string | undefined): void {
  if (system === undefined || DEGREES.test(system)) return;
  const hint = 'Download or convert it in degrees (EPSG:4326); add outSR=4326 to the query of an ArcGIS service.';
  throw invalidFile(file, `its coordinates are in ${system}`, hint);
}

function parsed({ json, line }: FeatureText, file: string): FileFeature {
  try {
    const { id, geometry, properties } = JSON.parse(json) as Partial<FileFeature>;
    const named = typeof id === 'string' || typeof id === 'number' ? { id } : {};
    const isObject = typeof properties === 'object' && properties !== null && !Array.isArray(properties);
    return { line, ...named, geometry, properties: isObject ? properties : {} };
  } catch (error) {
    throw invalidFile(
      file,
      `line ${line} is not valid JSON (${(error as Error).message})`,
      'Download it again.',
      error,
    );
  }
}
