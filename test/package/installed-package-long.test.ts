import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { shellWord } from '../../src/base/shell-words.ts';
import { addedColumns, LEADING_COLUMNS } from '../../src/columns/row.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { perilbook as perilbookOfSource, ROOT } from '../cli/command-line.ts';
import { column } from '../run/harness.ts';
import { provideLocalData, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MOST_BYTES = 3_000_000;

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the package and unpacks it as npm installs it, without a network: its dependencies are links to those of the checkout. */
function installed(t: TestContext) {
  const folder = join(temporaryFolder(t), 'my tools');
  mkdirSync(folder);
  const args = ['pack', '--json', '--pack-destination', folder];
  const output = execFileSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // Behind what the build prints.
  const [packed] = JSON.parse(output.slice(output.lastIndexOf('\n[\n') + 1)) as [Packed];
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'perilbook'));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  return { folder, packed, home: join(modules, 'perilbook') };
}

test('the packed package runs the sample, looks up local data, and is a typed library', async (t) => {
  const { folder, packed, home } = installed(t);
  const paths = packed.files.map(({ path }) => path);
  assert.ok(packed.size < MOST_BYTES, `${packed.size} bytes`);
  const assets = globSync('**/*.*', { cwd: join(ROOT, 'src') }).filter(
    (name) => !name.endsWith('.ts'),
  );
  const needed = [
    'package.json',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'bin/perilbook.cjs',
  ];
  const linked = globSync('docs/**/*.*', { cwd: ROOT });
  const read = [
    'jobs/job.schema.json',
    'jobs/sample.yaml',
    'sample-data/portfolio-oed.csv',
    ...linked,
  ];
  const lacking = [...assets.map((name) => `dist/${name}`), ...needed, ...read].filter(
    (path) => !paths.includes(path),
  );
  assert.deepEqual(lacking, []);
  const foreign = paths.filter((path) => /^(src|test|bench|node_modules)\//.test(path));
  assert.deepEqual(foreign, []);

  const env = { ...process.env, XDG_DATA_HOME: join(folder, 'data'), HOME: folder };
  const perilbook = (...args: string[]) =>
    spawnSync(process.execPath, [join(home, 'bin/perilbook.cjs'), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
  const launcher = join(home, 'bin/perilbook.cjs');
  const overview = spawnSync(process.execPath, [launcher], {
    cwd: join(home, 'docs'),
    env,
    encoding: 'utf8',
  });
  const listings = shellWord(join(home, 'sample-data/listings.csv'));
  assert.ok(overview.stdout.includes(`perilbook run ${listings} -o sample.csv`), overview.stdout);
  const store = join(folder, 'store.db');
  provideSampleData(store);
  const sample = ['run', join(home, 'jobs/sample.yaml'), '-o', 'sample.csv', '--store', store];
  const first = perilbook(...sample, '--report', 'report.html');
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stderr, /A paid service would charge 975 of /);
  assert.match(perilbook(...sample).stderr, /Spent: nothing\./);
  assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /<\/html>\s*$/);
  assert.match(perilbook('--version').stdout, /^\d+\.\d+\.\d+( \([0-9a-f]{10}(-dirty)?\))?\n$/);

  const { stdout, stderr } = perilbook('run', '--help');
  assert.deepEqual([stdout, stderr], [(await perilbookOfSource(['run', '--help'])).stdout, '']);

  // In a thread of its own, and with the tables of a data file.
  provideLocalData(env.XDG_DATA_HOME);
  writeFileSync(join(folder, 'one.csv'), 'lat,lng\n34.0522,-118.2437\n');
  const local = perilbook(
    'run',
    'one.csv',
    '-o',
    'out.csv',
    '--service',
    'local',
    '--topics',
    'wildfire,park',
  );
  assert.equal(local.status, 0, local.stderr);
  const output = readFileSync(join(folder, 'out.csv'), 'utf8').replace(/"[^"]*"/g, '');
  assert.deepEqual(column(output, 'hazard_status'), ['ok']);

  writeFileSync(join(folder, 'user.mts'), USER);
  const user = spawnSync(process.execPath, ['user.mts'], { cwd: folder, env, encoding: 'utf8' });
  assert.deepEqual([user.stderr, user.stdout], ['', 'ok string ERR_PACKAGE_PATH_NOT_EXPORTED\n']);

  const document = readFileSync(join(ROOT, 'docs/developer/library.md'), 'utf8');
  const programs = [...document.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program], index) => {
    writeFileSync(join(folder, `${index}.mts`), program!);
    return `${index}.mts`;
  });
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    noEmit: true,
  };
  const options = { ...compilerOptions, strict: true, skipLibCheck: false, types: ['node'] };
  const project = { compilerOptions: options, files: ['user.mts', ...programs] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  // The project's own compiler, and the oldest that docs/developer/library.md names.
  for (const home of [ROOT, join(import.meta.dirname, 'oldest-typescript')]) {
    const compiler = join(home, 'node_modules/typescript/bin/tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    assert.deepEqual([compiled.stdout, compiled.status], ['', 0], home);
  }
});

/** Every column, with the types of the library: it compiles only if they have these columns; others are those of layers. */
const COLUMNS = addedColumns(TOPIC_SLUGS, '', true, 'rates').slice(LEADING_COLUMNS.length);
const sampleOf = (type: string) => (type === 'number' || type === 'count' ? '0' : "'Very Low'");

/** A program of a user: it runs, and every line of it compiles or is expected not to. */
const USER = `
import { enrich, type Hazards, local, lookup, openStore, type PlanSummary, plan } from 'perilbook';

using source = local({ file: 'data/perilbook/data.db' });
const place = { lat: 34.0522, lng: -118.2437 };
const { status, hazards } = await lookup(place, ['wildfire'], { source });
const deep = await import('perilbook/' + 'dist/main.js').catch((error) => error.code);
console.log(status, typeof hazards.wildfire_rating, deep);

export async function ofRows(): Promise<void> {
  await using store = await openStore('store.db');
  const rows: { readonly id: number; readonly at: readonly [number, number] }[] = [];
  const locate = ({ at: [lat, lng] }: (typeof rows)[number]) => ({ lat, lng });
  for await (const { row } of enrich(rows, { topics: 'natural', source, store, locate })) row.id satisfies number;
  // @ts-expect-error rows without lat and lng need locate
  enrich(rows, { topics: 'natural', source, store });
  // @ts-expect-error there is no such topic
  enrich([place], { topics: ['wildfires'], source, store });
  for await (const { hazards } of enrich([place], { topics: ['own_layer'], source, store }))
    hazards.own_layer_count satisfies string | number | null | undefined;
}
export const columns = {
${COLUMNS.map(({ name, type }) => `  ${name}: ${sampleOf(type)},`).join('\n')}
} satisfies Required<Hazards>;
export const price: (job: string) => Promise<PlanSummary> = plan;
`;
