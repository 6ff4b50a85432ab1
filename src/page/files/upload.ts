import { createWriteStream } from 'node:fs';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasSystemCode } from '../../base/errors.ts';
import { RefusedRequest } from '../web/error-replies.ts';
import type { ChosenFile, Workspace } from './workspace.ts';

/** Streams an upload into a folder of its own. It is added to the workspace when it is complete.
 * @throws RefusedRequest if the disk is full; the upload is then deleted */
export async function receiveUpload(workspace: Workspace, body: Readable, name: string): Promise<ChosenFile> {
  const reserved = workspace.reserve(safeFileName(name));
  try {
    await pipeline(body, createWriteStream(reserved.path, { flags: 'wx', mode: 0o600 }));
    return workspace.add({ ...reserved, isUpload: true });
  } catch (error) {
    workspace.discard(reserved.id);
    if (hasSystemCode(error, 'ENOSPC')) {
      const hint = 'Free some space, or open the file by its path instead.';
      throw new RefusedRequest(507, 'NO_ROOM', 'The disk is full', hint);
    }
    throw error;
  }
}

/** In bytes: file systems allow 255, and the names of outputs and temporary files are longer. */
const LONGEST = 120;

/** The name of an uploaded file on the disk: without folders and without characters that file systems or terminals cannot
 * handle. Never empty, never hidden, never a path out of the folder. */
export function safeFileName(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? '';
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

/** As many whole characters as fit into `most` bytes: a stream's decoder waits for the rest of the last one. */
function shortened(text: string, most: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}
