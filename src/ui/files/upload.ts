import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { hasSystemCode } from '../../errors.ts';
import { RefusedRequest } from '../web/error-replies.ts';
import { safeFileName } from './file-name.ts';
import type { ChosenFile, Workspace } from './workspace.ts';

/**
 * Streams an upload into a folder of its own; it is a book when it is whole.
 *
 * @param declared the length that the sender has said, if it did
 * @throws Refused where it is larger than `most` or there is no room; then nothing of it is left
 */
export async function receiveUpload(
  workspace: Workspace,
  body: Readable,
  name: string,
  declared: number,
  most: number,
  now: number,
): Promise<ChosenFile> {
  if (declared > most) throw tooLarge(most);
  const place = workspace.reserve(safeFileName(name));
  try {
    await pipeline(body, counted(most), createWriteStream(place.path, { flags: 'wx', mode: 0o600 }));
    return workspace.add({ ...place, isUpload: true, addedAt: now });
  } catch (error) {
    workspace.discard(place.id);
    if (hasSystemCode(error, 'ENOSPC')) {
      throw new RefusedRequest(
        507,
        'NO_ROOM',
        'The disk has no room for the file',
        'Make room, or name its path instead.',
      );
    }
    throw error;
  }
}

function counted(most: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > most) done(tooLarge(most));
      else done(null, chunk);
    },
  });
}

function tooLarge(most: number): RefusedRequest {
  return new RefusedRequest(
    413,
    'TOO_LARGE',
    `The file is larger than the ${Math.round(most / 1e6).toLocaleString('en-US')} MB that may be uploaded`,
    'Name its path on this machine instead, or start perilbook ui with a larger --max-upload.',
  );
}
