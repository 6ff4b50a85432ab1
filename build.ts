import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libraryFile, libraryInCheckout, PAGE_LIBRARIES } from './src/page/web/assets.ts';

/**
 * Builds the package into `dist/`: JavaScript, types, assets, and the commit. `npm pack` runs it first.
 */

const ROOT = import.meta.dirname;
const SOURCE = join(ROOT, 'src');
const TARGET = join(ROOT, 'dist');

/** Files without meaning at run time. */
const isSource = (path: string) => path.endsWith('.ts');

rmSync(TARGET, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
  {
    cwd: ROOT,
    stdio: 'inherit',
  },
);
// Migrations, pages, styles, pictures: all that is read beside the code.
cpSync(SOURCE, TARGET, { recursive: true, filter: (path) => !isSource(path) });
copyPageLibraries();
writeCommit();

/** The libraries of the page, with their licences. */
function copyPageLibraries(): void {
  const assets = join(TARGET, 'page/assets');
  for (const specifier of PAGE_LIBRARIES)
    cpSync(libraryInCheckout(specifier), join(assets, libraryFile(specifier)));
  const packages = new Set(
    PAGE_LIBRARIES.map((specifier) => specifier.replace(/^preact\/hooks$/, 'preact')),
  );
  const licences = [...packages].map(
    (name) => `${name}\n\n${readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8')}`,
  );
  writeFileSync(join(assets, 'LICENSES.txt'), licences.join('\n\n'));
}

/** The commit is that of the checkout, marked where it had changes. A folder that is no checkout has none. */
function writeCommit(): void {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=10', '--exclude=*'];
    const commit = execFileSync('git', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    writeFileSync(join(TARGET, 'commit.txt'), commit);
  } catch {
    // `--version` then gives the version alone.
  }
}
