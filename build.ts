/**
 * Builds the package into `dist/`: JavaScript, types, assets, and the commit. `npm pack` runs it first.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = import.meta.dirname;
const SOURCE = join(ROOT, 'src');
const TARGET = join(ROOT, 'dist');

/** Files without meaning at run time. */
const isSource = (path: string) => path.endsWith('.ts');

rmSync(TARGET, { recursive: true, force: true });
execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: 'inherit',
});
// Migrations, pages, styles, pictures: all that is read beside the code.
cpSync(SOURCE, TARGET, { recursive: true, filter: (path) => !isSource(path) });
writeCommit();

/** The commit is that of the checkout, marked where it had changes. A folder that is no checkout has none. */
function writeCommit(): void {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=10', '--exclude=*'];
    const commit = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    writeFileSync(join(TARGET, 'commit.txt'), commit);
  } catch {
    // `--version` then gives the version alone.
  }
}
