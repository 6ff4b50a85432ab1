/**
 * Builds the package into `dist/`: JavaScript, types, assets, help texts, and the commit. `npm pack` runs it first.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import manifest from './package.json' with { type: 'json' };
import { helpTexts } from './src/cli/program.ts';
import { systemClock } from './src/clock.ts';

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
await writeHelp();
writeCommit();

async function writeHelp(): Promise<void> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const owner = { name: '', isAlive: () => false };
  const interrupt = new AbortController().signal;
  const process = { args: [], env: {}, workingFolder: ROOT, stdin, stdout, stderr, interrupt, owner };
  const texts = await helpTexts({ ...process, clock: systemClock, random: Math.random }, manifest.version);
  writeFileSync(join(TARGET, 'cli/help.json'), JSON.stringify(texts));
}

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
