/**
 * Measures what the short tier notices: changes the source of a module in one place at a time (a mutant) and runs the module's tests
 * for each: `npm run mutate -- src/run/plan src/contract/credits.ts`. Prints the mutants that no test noticed, and the share of those that one
 * did. docs/developer/mutation-tests.md says how to read it.
 *
 * A module's tests are the short files of the same folder in test/, or those that are named: `npm run mutate -- src/columns test/report`. The
 * ones that import what is changed come first, because a mutant is done with the first test that fails. The cases of whole runs are left
 * out: they take half a minute.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const NOT_SHORT = /-(long|browser)\.test\.ts$|^test\/faults\/|\/cases\.test\.ts$/;
const IMPORTED = /^(?:import|export)\s(?!type\b)[^;]*?from '(\.[^']+)'/gm;

/** Where to write which tests notice which mutants; each mutant is then tried with all tests that reach it. */
const { MUTANTS_JSON } = process.env;
const named = process.argv.slice(2).map((path) => path.replace(/\/$/, ''));
const filesOf = (folder: string, ending: string): string[] =>
  named
    .filter((path) => path.startsWith(folder))
    .flatMap((path) =>
      globSync(path.endsWith('.ts') ? path : `${path}/**/*${ending}`, { cwd: ROOT }),
    );
const mutated = filesOf('src/', '.ts');
if (mutated.length === 0) {
  process.stderr.write('Name a folder or a file of the source: npm run mutate -- src/run/plan\n');
  process.exit(2);
}

/** The folder of the tests of a folder of the source: of the same path, or of the nearest one above that has tests. */
function testFolderOf(folder: string): string {
  const tests = folder.replace(/^src/, 'test');
  return existsSync(join(ROOT, tests)) ? tests : testFolderOf(dirname(folder));
}

/** What a file imports, by paths from the root; helpers of tests count as the file's own. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const [, target] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORTED)) {
    const path = relative(ROOT, join(ROOT, dirname(file), target!));
    if (seen.has(path)) continue;
    seen.add(path);
    if (path.startsWith('test/') && path.endsWith('.ts')) importsOf(path, seen);
  }
  return seen;
}

const besideIt = mutated.flatMap((file) =>
  globSync(`${testFolderOf(dirname(file))}/**/*.test.ts`, { cwd: ROOT }),
);
const tests = filesOf('test/', '.test.ts');
const short = [...new Set(tests.length > 0 ? tests : besideIt)].filter(
  (file) => !NOT_SHORT.test(file),
);
const importing = short.filter((file) =>
  [...importsOf(file)].some((path) => mutated.includes(path)),
);
const testFiles = [...new Set([...importing, ...short])];

const work = mkdtempSync(join(tmpdir(), 'perilbook-mutants-'));
const settings = join(work, 'stryker.json');
writeFileSync(
  settings,
  JSON.stringify({
    mutate: mutated,
    testRunner: 'tap',
    plugins: ['@stryker-mutator/tap-runner'],
    tap: {
      testFiles,
      forceBail: MUTANTS_JSON === undefined,
      nodeArgs: ['--test-reporter=tap', '{{testFile}}'],
    },
    coverageAnalysis: 'perTest',
    // Texts are words for people.
    mutator: { excludedMutations: ['StringLiteral'] },
    // It reads a tsconfig by the interface of TypeScript 6, which 7 has no more.
    tsconfigFile: 'none.json',
    concurrency: 1,
    tempDirName: join(work, 'copies'),
    logLevel: 'warn',
    reporters: [
      'progress-append-only',
      'clear-text',
      ...(MUTANTS_JSON === undefined ? [] : ['json']),
    ],
    jsonReporter: { fileName: MUTANTS_JSON },
    disableBail: MUTANTS_JSON !== undefined,
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  }),
);
const stryker = join(ROOT, 'node_modules/.bin/stryker');
const { status } = spawnSync(process.execPath, [stryker, 'run', settings], {
  cwd: ROOT,
  // The copies and what tests leave behind when they are stopped go with the folder.
  env: { ...process.env, TZ: 'UTC', TMPDIR: work, NODE_COMPILE_CACHE: join(work, 'compiled') },
  stdio: 'inherit',
});
rmSync(work, { recursive: true, force: true });
process.exitCode = status ?? 1;
