/* Checks the types, and that each exported function and method of src states its return type: `npm run check`. A reader sees the shape,
 * and a change of a body that changes it is an error there. Those whose body is one returned expression tsc infers here:
 * architecture.test.ts finds them. One run of tsc tells both, and keeps what it found for the next: two runs
 * without that took 16 s of processor time, this one 10 s and then 1 s. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** What `--isolatedDeclarations` adds to the errors of types. */
const OF_DECLARATIONS = /error TS90\d\d:/;

/** A function, or a method, without a return type. The other codes are of constants, whose literals are inferred on purpose. */
const WITHOUT_TYPE = /^src\/.*error TS900[78]:/;

/** The table of settings: each setting's type follows from its line. */
const TABLE = /^src\/job\/setting-table\.ts/;

const OPTIONS = [
  ...['--isolatedDeclarations', '--pretty', 'false', '--incremental'],
  // Its own: with what a run without the first option has kept, tsc says nothing of declarations.
  ...['--tsBuildInfoFile', 'node_modules/.cache/checked-types.tsbuildinfo'],
];

const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', '.', ...OPTIONS], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
// An error begins a line; what explains it is indented below.
const errors = stdout.split(/\n(?=\S)/).filter((error) => error !== '');
const ofTypes = errors.filter((error) => !OF_DECLARATIONS.test(error));
const isOfTable = (error: string) => TABLE.test(error);
// After an error of types, tsc may not look for the others.
if (ofTypes.length === 0 && !errors.some(isOfTable))
  throw new Error(`tsc said nothing of the table: ${stdout}${stderr}`);
const withoutType = errors.filter((error) => WITHOUT_TYPE.test(error) && !isOfTable(error));
if (ofTypes.length > 0) process.stdout.write(`${ofTypes.join('\n')}\n`);
if (withoutType.length > 0)
  process.stdout.write(`Without a return type:\n${withoutType.join('\n')}\n`);
if (ofTypes.length + withoutType.length > 0) process.exitCode = 1;
