import { invalidFile, textBlocks } from './agency-file.ts';

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

/** The most text before the features: another kind of file is not searched to its end. */
const LONGEST_HEAD = 1 << 24;

/**
 * The features of a GeoJSON FeatureCollection, one at a time: the file is never in memory as a whole.
 *
 * @param onMore called when the file is one page of an ArcGIS service's answer and says that there are more
 * @throws PerilbookError SERVICE_DATA when it is no FeatureCollection, ends early, or is not in degrees
 */
export async function* geojsonFeatures(
  file: string,
  onMore: () => void = () => {},
): AsyncGenerator<readonly FileFeature[], void, void> {
  let text = '';
  let line = 1;
  let head: string | null = null;
  let ended = false;
  for await (const block of textBlocks(file)) {
    text += block;
    if (ended) continue;
    let at = 0;
    if (head === null) {
      const start = /"features"\s*:\s*\[/.exec(text);
      if (start === null && text.length > LONGEST_HEAD) break;
      if (start === null) continue;
      at = start.index + start[0].length;
      head = text.slice(0, at);
      line += linesIn(head);
      refuseOtherSystem(file, /"crs"[^}]*"name"\s*:\s*"(?!name")([^"]+)"/.exec(head)?.[1]);
    }
    const features: FileFeature[] = [];
    for (;;) {
      const open = nextObject(text, at);
      if (open === 'end') ended = true;
      if (typeof open === 'string') break;
      const close = endOfObject(text, open);
      if (close < 0) break;
      line += linesIn(text.slice(at, open));
      const json = text.slice(open, close);
      features.push(parsed(json, line, file));
      line += linesIn(json);
      at = close;
    }
    text = text.slice(at);
    if (features.length > 0) yield features;
  }
  if (head === null) {
    const found = /^\s*\{\s*"error"\s*:/.test(text)
      ? `an error from the service (${text.trim().slice(0, 100)})`
      : 'not a GeoJSON FeatureCollection';
    throw invalidFile(file, `it is ${found}`, 'Use a GeoJSON file with features.');
  }
  const envelope = ended ? envelopeOf(head + text.slice(text.indexOf(']'))) : null;
  if (envelope === null) throw invalidFile(file, 'it ends before its features do', 'Download it again.');
  refuseOtherSystem(file, envelope.crs?.properties?.name);
  if (envelope.exceededTransferLimit === true || envelope.properties?.exceededTransferLimit === true) onMore();
}

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

/** The offset of the next feature; `end` after the last one, `more` at the end of the text. */
function nextObject(text: string, from: number): number | 'end' | 'more' {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') return at;
    if (text[at] === ']') return 'end';
  }
  return 'more';
}

/** The offset after the brace that closes the object, or -1 when the text ends before it. */
function endOfObject(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at < 0) return -1;
    } else if (code === 0x7b) depth += 1;
    else if (code === 0x7d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text[close - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return close;
  }
  return -1;
}

function parsed(json: string, line: number, file: string): FileFeature {
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

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
