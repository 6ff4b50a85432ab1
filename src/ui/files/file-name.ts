import { extname } from 'node:path';

/** In bytes: file systems allow 255, and the names of outputs and temporary files are longer. */
const LONGEST = 120;

/**
 * The name of an uploaded file on the disk: without folders and without characters that file systems or terminals cannot
 * handle. Never empty, never hidden, never a path out of the folder.
 */
export function safeFileName(said: string): string {
  const base = said.split(/[/\\]/).at(-1) ?? '';
  const plain = base
    .normalize('NFC')
    // Control, format and surrogate characters: some change the direction of the text around them.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (plain === '') return 'upload';
  const extension = shortened(extname(plain), 16);
  const stem = plain.slice(0, plain.length - extname(plain).length);
  return shortened(stem, LONGEST) + extension;
}

/** As many whole characters as fit into `most` bytes. */
function shortened(text: string, most: number): string {
  let bytes = 0;
  let kept = '';
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > most) break;
    kept += letter;
  }
  return kept;
}
