/* Checks that each exported function and method of src states its return type: `npm run check`. A reader sees the shape, and a change of a
 * body that changes it is an error there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A function, or a method, without a return type (`tsc --isolatedDeclarations`). Its other codes are of constants, whose literals are
 * inferred on purpose. */
const WITHOUT_TYPE = /^src\/.*error TS900[78]:/;

/** The table of settings: each setting's type follows from its line. */
const TABLE = /^src\/job\/setting-table\.ts/;

const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { stdout } = spawnSync(
  process.execPath,
  [tsc, '-p', 'tsconfig.build.json', '--isolatedDeclarations', '--noEmit', '--pretty', 'false'],
  { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
);
const lines = stdout.split('\n');
if (!lines.some((line) => TABLE.test(line)))
  throw new Error(`tsc said nothing of the table: ${stdout}`);
const wrong = lines.filter((line) => WITHOUT_TYPE.test(line) && !TABLE.test(line));
if (wrong.length > 0) {
  process.stdout.write(`Without a return type:\n${wrong.join('\n')}\n`);
  process.exitCode = 1;
}
