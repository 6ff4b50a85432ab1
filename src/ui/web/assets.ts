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
};

const FOLDER = new URL('../assets/', import.meta.url);

/** The files of the page by their names. All are read at the start: what is not among them cannot be asked for. */
export function readAssets(): ReadonlyMap<string, Asset> {
  return new Map(
    readdirSync(FOLDER)
      .filter((name) => TYPES[extname(name)] !== undefined)
      .map((name) => [name, { type: TYPES[extname(name)]!, body: readFileSync(new URL(name, FOLDER)) }]),
  );
}
