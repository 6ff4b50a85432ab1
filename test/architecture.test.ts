import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../src');

/** The layers, from the top down (docs/developer/architecture.md). A module may import from the layers below its own. */
const LAYERS = [
  ['main.ts', 'index.ts'],
  ['cli'],
  ['page'],
  ['report'],
  ['library'],
  ['host'],
  ['sample'],
  ['run', 'service'],
  ['job'],
  ['rows', 'client', 'store', 'columns', 'data'],
  ['formats'],
  ['contract', 'geo', 'net', 'sql', 'threads'],
  ['base'],
];

/** The modules that alone may import a library. */
const LIBRARY_WALLS: Readonly<Record<string, readonly string[]>> = {
  undici: ['net'],
  bottleneck: ['client'],
  'p-limit': ['data'],
  'better-sqlite3': ['sql', 'store', 'service', 'data'],
  pg: ['sql'],
  ret: ['contract'],
  saxes: ['formats'],
  yauzl: ['formats'],
  flatbush: ['geo'],
  polylabel: ['geo'],
  'csv-parse': ['formats'],
  'csv-stringify': ['rows', 'data'],
  fastify: ['service', 'page'],
  yaml: ['job', 'data'],
  'd3-geo': ['sample', 'report'],
  'topojson-client': ['sample', 'report', 'data', 'rows', 'geo'],
  proj4: ['formats'],
  '@terraformer/arcgis': ['formats'],
  shapefile: ['formats'],
  'string-width': ['base'],
  yargs: ['cli'],
  zod: ['base', 'cli', 'page', 'report', 'run', 'service', 'job', 'client', 'data', 'contract'],
  // Types alone.
  geojson: ['sample', 'data', 'formats', 'geo', 'rows'],
  'topojson-specification': ['report', 'rows', 'geo'],
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** The package of an import: `csv-parse` of `csv-parse/sync`, `@scope/name`. */
const packageOf = (target: string): string =>
  target.split('/', target.startsWith('@') ? 2 : 1).join('/');

const moduleOf = (file: string): string => file.split('/')[0]!;
const layerOf = (name: string): number => LAYERS.findIndex((modules) => modules.includes(name));

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  const statements = text.matchAll(
    /^\s*(?:import|export)\s+(type\s+)?([^;'"]*?)from\s+'([^']+)'/gm,
  );
  const dynamic = text.matchAll(/import\('([^']+)'\)/g);
  return [
    ...[...statements].map(([, type, names, target]) => ({
      file,
      target: target!,
      typeOnly: type !== undefined || /^\{(\s*type\s+[^,]+,?)+\s*\}\s*$/.test(names!.trim()),
    })),
    ...[...dynamic].map(([, target]) => ({ file, target: target!, typeOnly: false })),
  ];
}

const imports = files.flatMap(importsOf);
const inside = imports
  .filter(({ target }) => target.startsWith('.'))
  .map((found) => ({
    ...found,
    target: relative(SRC, join(SRC, dirname(found.file), found.target)),
  }))
  .filter(({ target }) => !target.startsWith('..'));

test('every file lies in a module', () => {
  const homeless = files.filter((file) => layerOf(moduleOf(file)) < 0);
  assert.deepEqual(homeless, []);
  assert.ok(files.length > 50 && inside.length > 100, 'the test reads the real source');
});

test('arrows point down only; modules of one layer do not import one another, types of a port excepted', () => {
  const wrong = inside.filter(({ file, target, typeOnly }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (from === to || layerOf(from) < layerOf(to)) return false;
    return !(layerOf(from) === layerOf(to) && typeOnly && /\/port\.ts$/.test(target));
  });
  assert.deepEqual(wrong, []);
});

test('the service and the client meet only in the contract', () => {
  const wrong = inside.filter(
    ({ file, target }) => moduleOf(file) === 'service' && /^(client|run|store)\//.test(target),
  );
  assert.deepEqual(wrong, []);
});

test('libraries stay behind their walls', () => {
  const wrong = imports
    .filter(({ target }) => !/^(\.|node:)/.test(target))
    .filter(({ file, target }) => !LIBRARY_WALLS[packageOf(target)]?.includes(moduleOf(file)));
  assert.deepEqual(wrong, []);
});

test('only main touches the process, and nothing but it and the cli prints', () => {
  const touching = /\bprocess\.(argv|env|exit|exitCode|on|cwd|std(in|out|err))\b|\bconsole\./;
  const wrong = files.filter((file) => file !== 'main.ts' && touching.test(withoutComments(file)));
  assert.deepEqual(wrong, []);
});

test('exported functions have a docstring', () => {
  const exported =
    /^export (?:(?:async )?function\*? (\w+)|const (\w+)[^=]*= (?:async )?(?:<[^>]*>)?\()/gm;
  const bare = files.flatMap((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    return [...text.matchAll(exported)]
      .filter(({ index }) => !text.slice(0, index).endsWith('*/\n'))
      .map(([, name, arrow]) => `${file}: ${name ?? arrow}`);
  });
  assert.deepEqual(bare, []);
});

test('exported functions, and methods of exported classes, state their return type', () => {
  // `tsc --isolatedDeclarations` (check-types.ts) leaves out those whose body is one returned expression.
  const begin =
    /^export (?:async )?function\*? (\w+)|^export const (\w+) = (?:async )?(?=[(<])|^ {2}(?:static |override |async |get |\*)*(\w+)(?=[(<])/gm;
  let seen = 0;
  const untyped = files.flatMap((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    return [...text.matchAll(begin)].flatMap(
      ({ 0: start, 1: name, 2: arrow, 3: method, index }) => {
        const isMethod = method !== undefined;
        if (isMethod && (method === 'constructor' || !isInExportedClass(text, index))) return [];
        const after = index + start.length;
        const parameters = text[after] === '<' ? endOfBrackets(text, after, '<', '>') : after;
        const rest = text.slice(endOfBrackets(text, parameters, '(', ')'));
        // A call of a function, in the body of a method, has no body of its own.
        if (isMethod && !/^(:|\s*\{)/.test(rest)) return [];
        seen++;
        return rest.startsWith(':') ? [] : [`${file}: ${name ?? arrow ?? method}`];
      },
    );
  });
  assert.deepEqual(untyped, []);
  assert.ok(seen > 1_500, `${seen} functions: the test reads the real source`);
});

test('the root files of a folder are above its subfolders or below them, types of a port excepted', () => {
  const folders = new Set(files.flatMap((file) => foldersOf(file)));
  const wrong = [...folders].flatMap((folder) => {
    const within = inside.filter(
      ({ file, target, typeOnly }) =>
        file.startsWith(`${folder}/`) &&
        target.startsWith(`${folder}/`) &&
        !(typeOnly && /(^|\/)port\.ts$/.test(target)),
    );
    const down = within.filter(
      ({ file, target }) => dirname(file) === folder && dirname(target) !== folder,
    );
    const up = within.filter(
      ({ file, target }) => dirname(file) !== folder && dirname(target) === folder,
    );
    return down.length > 0 && up.length > 0 ? [...down, ...up] : [];
  });
  assert.deepEqual(wrong, []);
});

test('a wall stands before a library that is there', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(SRC, '../package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  const names = Object.keys({ ...dependencies, ...devDependencies }).map((name) =>
    name.replace('@types/', ''),
  );
  assert.deepEqual(
    Object.keys(LIBRARY_WALLS).filter((name) => !names.includes(name)),
    [],
  );
});

test('no grab-bag files, and one barrel: the library', () => {
  const isGrabBag = (file: string) =>
    /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\/)/.test(file);
  assert.deepEqual(files.filter(isGrabBag), ['index.ts']);
});

test('a type name has one meaning', () => {
  const declaration = /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm;
  const declared = files.flatMap((file) => {
    const names = readFileSync(join(SRC, file), 'utf8').matchAll(declaration);
    return [...names].map(([, name]) => ({ name: name!, file }));
  });
  assert.ok(declared.length > 300);
  const twice = [...Map.groupBy(declared, ({ name }) => name).values()].filter(
    (places) => places.length > 1,
  );
  assert.deepEqual(twice, []);
});

test('no import cycles, of types neither', () => {
  const edges = new Map<string, string[]>();
  for (const { file, target } of inside) edges.set(file, [...(edges.get(file) ?? []), target]);
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    state.set(file, 'open');
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  assert.deepEqual(cycles, []);
});

function isInExportedClass(text: string, index: number): boolean {
  const above = [...text.slice(0, index).matchAll(/^(export )?(?:abstract )?class |^\}/gm)];
  return above.at(-1)?.[1] !== undefined;
}

/** The place after the bracket that closes the one at a place. The `>` of an arrow closes none. */
function endOfBrackets(text: string, from: number, open: string, close: string): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && text[at - 1] !== '=' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The folders above a file, within `src`. */
function foldersOf(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}

function withoutComments(file: string): string {
  return readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
