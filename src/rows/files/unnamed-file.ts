import { randomBytes } from 'node:crypto';
import { openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens a temporary file and unlinks it at once: its space is freed when the process ends, however it ends. @throws the
 * error of the file system */
export function openUnnamed(): number {
  const path = join(tmpdir(), `perilbook-${randomBytes(8).toString('hex')}.tmp`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
