import { extname } from 'node:path';

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
  const extension = extname(plain).slice(0, 16);
  const stem = plain.slice(0, plain.length - extname(plain).length);
  return [...stem].slice(0, LONGEST).join('') + extension;
}
