import { createHash, randomBytes } from 'node:crypto';
import { openSync, rmSync, unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isProcessRunning, machineName } from '../../base/running-processes.ts';

const MACHINE_DIGITS = 8;
const PID_DIGITS = 8;
const RANDOM_DIGITS = 8;

/** The temporary files and folders of this thread that are not renamed yet. */
const unfinished = new Set<string>();

/** The name of a temporary file or folder beside the target. It contains machine and process, so that files of killed processes can be
 * removed. Call `endTemporary` after it was renamed or removed. */
export function temporaryName(target: string): string {
  const pid = process.pid.toString(16).padStart(PID_DIGITS, '0');
  const random = randomBytes(RANDOM_DIGITS / 2).toString('hex');
  const path = join(dirname(target), `${beginningOf(target)}${pid}${random}.tmp`);
  unfinished.add(path);
  return path;
}

/** Forgets a temporary file that was renamed or removed: the end of the process has nothing to remove. */
export function endTemporary(path: string): void {
  unfinished.delete(path);
}

/** Removes the unfinished files of this thread, when the process ends before they are done. */
export function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { recursive: true, force: true });
  unfinished.clear();
}

/** Removes the temporary files and folders that killed processes of this machine left beside an output. A remaining one is harmless. */
export async function removeAbandoned(target: string): Promise<void> {
  const folder = dirname(target);
  const begin = beginningOf(target);
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    if (!name.startsWith(begin)) continue;
    const [, pid] = REST.exec(name.slice(begin.length)) ?? [];
    if (pid === undefined || isProcessRunning(Number.parseInt(pid, 16))) continue;
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
}

const REST = new RegExp(`^([0-9a-f]{${PID_DIGITS}})[0-9a-f]{${RANDOM_DIGITS}}\\.tmp$`);

/** A name may have 255 bytes, and a temporary one has 30 more than its target. */
const LONGEST_NAME = 225;

/** How the names of a target's temporary files begin on this machine: its own name, or a digest where that leaves no room. */
function beginningOf(target: string): string {
  const name = basename(target);
  const kept = Buffer.byteLength(name) <= LONGEST_NAME ? name : digestOf(name);
  return `.${kept}.${digestOf(machineName()).slice(0, MACHINE_DIGITS)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Opens a temporary file and unlinks it at once: its space is freed at the end of the process, also after a kill. @throws system errors */
export function openUnnamed(): number {
  const path = join(tmpdir(), `perilbook-${randomBytes(8).toString('hex')}.tmp`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
