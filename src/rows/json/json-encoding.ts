import { isUtf8 } from 'node:buffer';
import type { Field } from '../../contract/answer.ts';
import { asciiJson, memberTexts, type Piece } from '../../formats/json/json-members.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import type { AddedColumn } from '../port.ts';
import {
  type EncodingOfText,
  encodingOf,
  type FileEncoding,
  hasAsciiInLetters,
} from '../text-encoding.ts';

/* The letters of JSON files that are not in UTF-8: other programs write them, though JSON has no other encoding. */

/** The new members of an object, in letters that its own bytes have: those of a text that is not UTF-8 are ASCII. */
export function membersIn(
  object: Buffer,
  { encoding }: EncodingOfText,
  added: readonly AddedColumn[],
  fields: readonly Field[],
): string[] {
  const members = memberTexts(added, fields);
  const isUtf8Text = encoding === 'utf-8' && isUtf8(object);
  return isUtf8Text ? members : members.map(asciiJson);
}

/** @throws INPUT_UNREADABLE for an encoding whose letters have bytes that are signs of JSON */
export function lettersOf(
  input: Pick<InputFile, 'name' | 'head' | 'utf16'>,
  title: string,
  named: FileEncoding | undefined,
): EncodingOfText {
  const letters = encodingOf(input, named);
  if (!hasAsciiInLetters(letters.encoding)) return letters;
  const what = `is ${title} in ${letters.encoding}, whose letters have bytes that are quotes and brackets of JSON`;
  const hint = `Convert it to UTF-8 first: iconv -f ${letters.encoding} -t UTF-8 FILE > utf8.json.`;
  throw unreadable(input.name, what, hint);
}

/** Adds old bytes and new texts in their order. */
export function addPieces(gathered: ByteBuffer, bytes: Buffer, pieces: readonly Piece[]): void {
  for (const piece of pieces) {
    if (typeof piece === 'string') gathered.addText(Buffer.from(piece).toString('latin1'));
    else gathered.addBytes(bytes, piece.from, piece.to);
  }
}
