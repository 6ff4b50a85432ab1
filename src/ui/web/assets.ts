import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { reportScript, reportStyle } from '../../report/page/page.ts';

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

/** The files of the page by name, and style and script of the report. All are read at the start: no other file can be requested. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const names = readdirSync(FOLDER).filter((name) => TYPES[extname(name)] !== undefined);
  const bodies: readonly [name: string, body: Buffer][] = [
    ...names.map((name): [string, Buffer] => [name, readFileSync(new URL(name, FOLDER))]),
    ['report.css', Buffer.from(reportStyle())],
    ['report.js', Buffer.from(reportScript())],
  ];
  return new Map(bodies.map(([name, body]) => [name, { type: TYPES[extname(name)]!, body }]));
}
