import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { byteSize, counted, grouped, percent, timeSpan } from '../../base/format-numbers.ts';
import { baseStyle, reportScript, reportStyle } from '../../report/html/page.ts';
import { confirmation } from '../files/choice.ts';
import { HEADERS } from './access.ts';

export const HTML = 'text/html; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  '.html': HTML,
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.csv': 'text/csv; charset=utf-8',
};

const FOLDER = new URL('../assets/', import.meta.url);

/** Beside `src` in a checkout, and beside `dist` in the package. */
const SAMPLE = new URL('../../../sample-data/portfolio-oed.csv', import.meta.url);

/** The page, and the policy of its scripts. */
interface ServedPage {
  readonly body: Buffer;
  readonly policy: string;
}

/** The page itself. Its policy allows one inline script by its hash: the map of the libraries. */
export function readPage(): ServedPage {
  const imports = PAGE_LIBRARIES.map((specifier) => [
    specifier,
    `/assets/${libraryFile(specifier)}`,
  ]);
  const map = JSON.stringify({ imports: Object.fromEntries(imports) });
  const empty = '<script type="importmap"></script>';
  const page = readFileSync(new URL('page.html', FOLDER), 'utf8');
  const hash = createHash('sha256').update(map).digest('base64');
  const policy = HEADERS['content-security-policy']!.replace(
    "script-src 'self'",
    `$& 'sha256-${hash}'`,
  );
  return { body: Buffer.from(page.replace(empty, empty.replace('><', `>${map}<`))), policy };
}

/** Functions that the page has in common with the server. Each is served as it is written, and so uses nothing but the others. */
const NUMBERS = [grouped, counted, byteSize, timeSpan, percent, confirmation];

/** A file of the page. */
interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

/** The files of the page by name, its libraries, a sample, and style and script of the report: no other file can be requested. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const add = (name: string, body: string | Buffer) =>
    assets.set(name, { type: TYPES[extname(name)]!, body: Buffer.from(body) });
  const names = readdirSync(FOLDER).filter((name) => TYPES[extname(name)] !== undefined);
  for (const name of names) add(name, readFileSync(new URL(name, FOLDER)));
  // In the package they are among the names already.
  for (const specifier of PAGE_LIBRARIES.filter(
    (library) => !names.includes(libraryFile(library)),
  )) {
    add(libraryFile(specifier), readFileSync(libraryInCheckout(specifier)));
  }
  add('sample.csv', readFileSync(SAMPLE));
  add('base.css', baseStyle());
  add('report.css', reportStyle());
  add('report.js', reportScript());
  add('numbers.js', NUMBERS.map((shared) => `export ${shared}\n`).join(''));
  return assets;
}

/** The libraries of the page, by the names under which it imports them. They are served unchanged, without a bundler. A checkout has them
 * as development dependencies; the build copies them beside the page, so that the installed package does not need them. */
export const PAGE_LIBRARIES = [
  'preact',
  'preact/hooks',
  'htm',
  '@preact/signals',
  '@preact/signals-core',
];

/** The name of a library's file among the page's assets. */
export const libraryFile = (specifier: string): string =>
  `library-${specifier.replaceAll(/\W+/g, '-')}.js`;

/** The file of a library in `node_modules`. */
export const libraryInCheckout = (specifier: string): URL =>
  new URL(import.meta.resolve(specifier));
