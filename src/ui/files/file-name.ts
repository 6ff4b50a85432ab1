import { extname } from 'node:path';

/** In bytes: file systems take 255, and the names of outputs and of unfinished ones are longer. */
const LONGEST = 120;

/**
 * What an uploaded file is called on the disk: its own name without folders, without what a file system or a terminal takes
 * ill. Never empty, never hidden, never a way out of the folder.
 */
export function safeFileName(said: string): string {
  const base = said.split(/[/\\]/).at(-1) ?? '';
  const plain = base
    .normalize('NFC')
    // Control, format and surrogate characters: a name could turn the direction of the text around it.
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (plain === '') return 'book';
  const extension = shortened(extname(plain), 16);
  const stem = plain.slice(0, plain.length - extname(plain).length);
  return shortened(stem, LONGEST) + extension;
}

/** As many whole letters as fit into so many bytes. */
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
