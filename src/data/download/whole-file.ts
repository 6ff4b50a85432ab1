import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a small file atomically: a kill or a power cut leaves the old file or the new one. */
export function writeWhole(file: string, text: string): void {
  const temporary = `${file}.new`;
  const descriptor = openSync(temporary, 'w');
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  putInPlace(temporary, file);
}

/** Renames a synced file and syncs the folder. */
export function putInPlace(temporary: string, file: string): void {
  renameSync(temporary, file);
  try {
    syncFile(dirname(file));
  } catch {
    // Windows cannot open a folder.
  }
}

export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
