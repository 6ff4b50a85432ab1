import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.csv': 'text/csv; charset=utf-8',
};

const FOLDER = new URL('../assets/', import.meta.url);

/** The files of the page by name, read at the start: no other file can be requested. */
export function readAssets(): ReadonlyMap<string, Asset> {
  return new Map(
    readdirSync(FOLDER)
      .filter((name) => TYPES[extname(name)] !== undefined)
      .map((name) => [name, { type: TYPES[extname(name)]!, body: readFileSync(new URL(name, FOLDER)) }]),
  );
}
