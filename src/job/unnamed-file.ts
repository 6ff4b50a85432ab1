import { randomBytes } from 'node:crypto';
import { openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens a temporary file without a name: it is gone with the process, however that ends. @throws what the disk says */
export function openUnnamed(): number {
  const path = join(tmpdir(), `perilbook-${randomBytes(8).toString('hex')}.tmp`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}
