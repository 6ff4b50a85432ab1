import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Beside the code in a package: the build wrote it. */
const BUILT = new URL('../commit.txt', import.meta.url);
const CHECKOUT = new URL('../../', import.meta.url);

/** The commit of the build or of the checkout; null if unknown. */
export function commitOfProgram(): string | null {
  try {
    if (existsSync(BUILT)) return readFileSync(BUILT, 'utf8').trim();
    // The package may be installed inside a checkout of something else.
    if (!existsSync(new URL('.git', CHECKOUT))) return null;
    const args = ['describe', '--always', '--dirty', '--abbrev=10', '--exclude=*'];
    return execFileSync('git', args, {
      cwd: CHECKOUT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
