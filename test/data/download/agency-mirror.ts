import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { boxOfGeometry } from '../../../src/geo/bounding-boxes.ts';

/** A file as an agency's web server gives it. */
export interface MirroredFile {
  readonly body: Buffer;
  readonly etag?: string;
  readonly lastModified?: string;
}

/** An ArcGIS layer and how its server behaves. */
export interface MirroredLayer {
  readonly fields: readonly string[];
  readonly rows: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly geometry?: unknown;
    /** The geometry that it gives where it simplifies. */
    readonly simplified?: unknown;
  }[];
  readonly edited?: number | null;
  /** The limit that it names, and the one that it keeps to: 732 where 2,000 were asked for. */
  readonly maxRecordCount?: number;
  readonly mostRows?: number;
  /** Where it says that there is more; GeoJSON has it among the properties. */
  readonly flag?: 'top' | 'properties' | 'never' | 'always';
  readonly hasOffset?: boolean;
  readonly formats?: string;
  readonly crs?: string;
}

export interface MirroredQuake {
  readonly time: number;
  readonly lat: number;
  readonly lng: number;
  readonly updated?: number;
}

export interface AskedRequest {
  /** host/path?query, as the agency would be asked. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** Answers in place of the mirror, or returns false. */
type Fault = (request: AskedRequest, response: ServerResponse) => unknown;

export type AgencyMirror = Awaited<ReturnType<typeof agencyMirror>>;

/** The agencies' servers on loopback, asked as MIRROR/host/path. */
export async function agencyMirror(t: TestContext) {
  const faults: { target: RegExp; times: number; fault: Fault }[] = [];
  let downloads = 0;
  const mirror = {
    files: new Map<string, MirroredFile>(),
    layers: new Map<string, MirroredLayer>(),
    quakes: [] as readonly MirroredQuake[],
    requests: [] as AskedRequest[],
    /** Answers 200 and 206 with data in them since the last call; pages of links are none. */
    downloads() {
      const seen = downloads;
      downloads = 0;
      return seen;
    },
    /** The fault happens to so many requests whose target fits. */
    fail(target: RegExp, times: number, fault: Fault) {
      faults.push({ target, times, fault });
    },
  };
  const server = createServer((request, response) => {
    const target = decodeURIComponent(request.url!.slice(1));
    const asked = { target: request.url!.slice(1), headers: request.headers };
    mirror.requests.push(asked);
    const fault = faults.find((one) => one.times > 0 && one.target.test(target));
    if (fault !== undefined) {
      fault.times -= 1;
      if (fault.fault(asked, response) !== false) return;
    }
    // fema.gov refuses programs; the Census Bureau answers a page to those without a name.
    if (!/^perilbook\//.test(request.headers['user-agent'] ?? '')) return sendPage(response, 200);
    const url = new URL(`http://${asked.target}`);
    const [path] = target.split('?');
    const file = mirror.files.get(path!);
    if (file !== undefined) {
      if (
        sendFile(file, request, response) &&
        !file.body.toString('latin1', 0, 5).includes('<html')
      )
        downloads += 1;
      return;
    }
    const layer = mirror.layers.get(path!.replace(/\/query$/, ''));
    if (layer !== undefined) {
      const isQuery = path!.endsWith('/query');
      if (isQuery && !/return(Count|Ids)Only/.test(asked.target)) downloads += 1;
      return sendJson(
        response,
        isQuery ? queried(layer, url.searchParams) : described(layer),
        request,
      );
    }
    if (path!.startsWith('earthquake.usgs.gov/')) {
      if (!path!.endsWith('/count')) downloads += 1;
      return sendQuakes(mirror.quakes, path!, url.searchParams, response);
    }
    sendPage(response, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(mirror, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

/** A web page, as servers give it in place of data. */
export function sendPage(response: ServerResponse, status: number): void {
  const text = '<!DOCTYPE html><html><body>Sorry, this page is not available.</body></html>';
  response
    .writeHead(status, { 'content-type': 'text/html', 'content-length': text.length })
    .end(text);
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  request?: IncomingMessage,
): void {
  const text = JSON.stringify(value);
  const isPacked = /gzip/.test(String(request?.headers['accept-encoding'] ?? ''));
  const body = isPacked ? gzipSync(text) : Buffer.from(text);
  const packed = isPacked ? { 'content-encoding': 'gzip' } : {};
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': body.length,
      ...packed,
    })
    .end(body);
}

/** Whether there was data in the answer. */
function sendFile(
  file: MirroredFile,
  { headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { body, etag, lastModified } = file;
  const named = {
    'accept-ranges': 'bytes',
    ...(etag && { etag }),
    ...(lastModified && { 'last-modified': lastModified }),
  };
  const isSame =
    headers['if-none-match'] === undefined
      ? lastModified !== undefined && headers['if-modified-since'] === lastModified
      : headers['if-none-match'] === etag;
  if (isSame) {
    response.writeHead(304, named).end();
    return false;
  }
  const range = /^bytes=(\d+)-$/.exec(String(headers.range ?? ''));
  const condition = headers['if-range'];
  const isWanted = condition === undefined || condition === etag || condition === lastModified;
  const from = range !== null && isWanted ? Number(range[1]) : 0;
  if (from >= body.length) {
    response.writeHead(416, { 'content-range': `bytes */${body.length}` }).end();
    return false;
  }
  const part = body.subarray(from);
  const place =
    from === 0 ? {} : { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` };
  response
    .writeHead(from === 0 ? 200 : 206, { ...named, ...place, 'content-length': part.length })
    .end(part);
  return true;
}

function described({
  fields,
  edited,
  maxRecordCount = 2_000,
  hasOffset = true,
  formats,
}: MirroredLayer): unknown {
  return {
    objectIdField: 'OBJECTID',
    maxRecordCount,
    supportedQueryFormats: formats ?? 'JSON, geoJSON, PBF',
    fields: [
      { name: 'OBJECTID', type: 'esriFieldTypeOID' },
      ...fields.map((name) => ({ name, type: 'esriFieldTypeString' })),
    ],
    advancedQueryCapabilities: { supportsPagination: hasOffset },
    ...(edited && { editingInfo: { lastEditDate: edited - 1, dataLastEditDate: edited } }),
  };
}

function queried(layer: MirroredLayer, query: URLSearchParams): unknown {
  const ids = query.get('objectIds')?.split(',').map(Number);
  const isSimplified = query.has('maxAllowableOffset');
  const rows = layer.rows
    .map((row, index) => ({ ...row, id: index + 1 }))
    .filter(
      (row) => ids?.includes(row.id) ?? isWanted(row, query.get('where')!, query.get('geometry')),
    );
  if (query.get('returnCountOnly') === 'true') return { count: rows.length };
  if (query.get('returnDistinctValues') === 'true') {
    const [name] = query.get('outFields')!.split(',');
    const values = new Set(rows.map(({ attributes }) => attributes[name!]));
    return { features: [...values].map((value) => ({ attributes: { [name!]: value } })) };
  }
  if (query.get('returnIdsOnly') === 'true') {
    return {
      objectIdFieldName: 'OBJECTID',
      objectIds: rows.length === 0 ? null : rows.map(({ id }) => id),
    };
  }
  const {
    hasOffset = true,
    maxRecordCount = 2_000,
    mostRows = maxRecordCount,
    flag = 'properties',
    crs,
  } = layer;
  const from = hasOffset ? Number(query.get('resultOffset') ?? 0) : 0;
  const asked = hasOffset
    ? Number(query.get('resultRecordCount') ?? maxRecordCount)
    : maxRecordCount;
  const page = rows.slice(from, from + Math.min(asked, mostRows));
  const isMore = flag === 'always' || (flag !== 'never' && from + page.length < rows.length);
  const more = isMore ? { exceededTransferLimit: true } : {};
  const names = query.get('outFields')!;
  const attributesOf = (row: (typeof rows)[number]) => {
    const all = Object.entries({ OBJECTID: row.id, ...row.attributes });
    return Object.fromEntries(
      all.filter(([name]) => names === '*' || names.split(',').includes(name)),
    );
  };
  if (query.get('f') === 'json') {
    return { features: page.map((row) => ({ attributes: attributesOf(row) })), ...more };
  }
  return {
    type: 'FeatureCollection',
    ...(crs && { crs: { type: 'name', properties: { name: crs } } }),
    features: page.map((row) => ({
      type: 'Feature',
      id: row.id,
      geometry: isSimplified && 'simplified' in row ? row.simplified : row.geometry,
      properties: attributesOf(row),
    })),
    ...(flag === 'top' ? more : { properties: more }),
  };
}

type Row = MirroredLayer['rows'][number] & { readonly id: number };

/** Understands `A='x'`, `A LIKE 'x%'`, `OBJECTID>n`, and takes every other condition as met; a line touches a box where its own box does. */
function isWanted(row: Row, where: string, box: string | null): boolean {
  const after = /OBJECTID>(\d+)/.exec(where);
  if (after !== null && row.id <= Number(after[1])) return false;
  for (const [, name, value] of where.matchAll(/(\w+)='([^']*)'/g)) {
    if (name! in row.attributes && String(row.attributes[name!]) !== value) return false;
  }
  for (const [, name, start] of where.matchAll(/(\w+) LIKE '([^'%]*)%'/g)) {
    if (!String(row.attributes[name!]).startsWith(start!)) return false;
  }
  if (box === null) return true;
  const [west, south, east, north] = box.split(',').map(Number) as [number, number, number, number];
  const own = boxOfGeometry(row.geometry);
  if (own === null) return false;
  return own.maxLng >= west && own.minLng <= east && own.maxLat >= south && own.minLat <= north;
}

function sendQuakes(
  quakes: readonly MirroredQuake[],
  path: string,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const at = (name: string) => Date.parse(`${query.get(name)!.slice(0, 10)}T00:00:00Z`);
  const number = (name: string) => Number(query.get(name));
  const updatedAfter = query.get('updatedafter');
  const found = quakes.filter(
    ({ time, lat, lng, updated = time }) =>
      time >= at('starttime') &&
      time < at('endtime') &&
      lat >= number('minlatitude') &&
      lat <= number('maxlatitude') &&
      lng >= number('minlongitude') &&
      lng <= number('maxlongitude') &&
      (updatedAfter === null || updated > Date.parse(`${updatedAfter}Z`)),
  );
  if (path.endsWith('/count')) {
    const text = String(found.length);
    response.writeHead(200, { 'content-length': text.length }).end(text);
    return;
  }
  if (found.length > 20_000) {
    sendPage(response, 400);
    return;
  }
  const lines = found.map(({ time, lat, lng }) => {
    const at = new Date(time).toISOString();
    return `${at},${lat},${lng},10,3.1,ml,12,80,0.1,0.2,us,us${time},${at},"1 km of here",earthquake\n`;
  });
  // The catalog sends in chunks, without a length.
  response.writeHead(200, { 'content-type': 'text/csv' });
  response.write(
    'time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type\n',
  );
  response.end(lines.join(''));
}
