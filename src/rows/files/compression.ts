import { basename, extname } from 'node:path';
import type { Compression } from '../../formats/bytes/unpack.ts';

const BY_EXTENSION: Readonly<Record<string, Compression>> = {
  '.gz': 'gzip',
  '.zst': 'zstd',
  '.zstd': 'zstd',
};

/** The extension of a name, with that of a compression: `.csv`, `.csv.gz`. */
export function extensionOf(name: string): string {
  const last = extname(name);
  return last.toLowerCase() in BY_EXTENSION ? extname(basename(name, last)) + last : last;
}

/** A name or an extension without that of a compression. */
export function withoutCompression(name: string): string {
  const last = /\.\w+$/.exec(name)?.[0] ?? '';
  return last.toLowerCase() in BY_EXTENSION ? name.slice(0, -last.length) : name;
}

/** The compression of an output: by its name, or as the input if both names have the same ending. */
export function compressionOfOutput(
  output: string,
  input: { readonly name: string; readonly compression: Compression | null } | null,
): Compression | null {
  if (output === '-') return null;
  const extension = extname(output).toLowerCase();
  const isAlike = input !== null && extension === extname(input.name).toLowerCase();
  return BY_EXTENSION[extension] ?? (isAlike ? input.compression : null);
}
