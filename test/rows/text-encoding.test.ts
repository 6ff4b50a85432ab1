import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  encodingNote,
  encodingOf,
  guessUtf16,
  hasAsciiInLetters,
} from '../../src/rows/text-encoding.ts';

const little = (text: string) => Buffer.from(text, 'utf16le');
const big = (text: string) => Buffer.from(text, 'utf16le').swap16();

test('UTF-16 without a mark is known from seven characters on', () => {
  assert.equal(guessUtf16(little('lat,lng')), 'utf-16le');
  assert.equal(guessUtf16(big('lat,lng')), 'utf-16be');
  assert.equal(guessUtf16(little('lat,ln')), null);
  assert.equal(guessUtf16(Buffer.from('lat,lng\n25,-80\n')), null);
});

test('UTF-16 without a mark may have some letters that are not of ASCII, and not many zero bytes of both kinds', () => {
  assert.equal(guessUtf16(little('name,Łódź,lat,lng')), 'utf-16le');
  assert.equal(guessUtf16(little('a名名名名,la')), 'utf-16le', 'half of them');
  assert.equal(guessUtf16(little('a名名名名名名名名')), null);
  assert.equal(guessUtf16(Buffer.alloc(40)), null);
});

test('a byte order mark alone decides, but for that of UTF-32', () => {
  assert.equal(guessUtf16(Buffer.from('fffe6100', 'hex')), 'utf-16le');
  assert.equal(guessUtf16(Buffer.from('feff0061', 'hex')), 'utf-16be');
  assert.equal(guessUtf16(Buffer.from('fffe000061000000', 'hex')), null);
});

test('the second byte of a letter may be one of ASCII in the encodings of East Asia that are no extended Unix codes', () => {
  assert.deepEqual(
    (['shift_jis', 'gbk', 'gb18030', 'big5', 'utf-8', 'windows-1252'] as const).map(
      hasAsciiInLetters,
    ),
    [true, true, true, true, false, false],
  );
});

test('an encoding is guessed only where nothing states it, and a guess that is not UTF-8 is told', () => {
  const head = Buffer.from('name,lat\nCaf\xe9,25\n', 'latin1');
  const found = encodingOf({ head, utf16: null }, undefined);
  assert.deepEqual(found, { encoding: 'windows-1252', isEncodingGuessed: true });
  assert.match(encodingNote(head, found)!, /was read as windows-1252/);
  const named = encodingOf({ head, utf16: null }, 'windows-1252');
  assert.deepEqual(named, { encoding: 'windows-1252', isEncodingGuessed: false });
  assert.equal(encodingNote(head, named), null);
  const converted = encodingOf({ head, utf16: 'utf-16le' }, 'utf-16le');
  assert.deepEqual(converted, { encoding: 'utf-8', isEncodingGuessed: false });
  const marked = Buffer.from('\xef\xbb\xbflat', 'latin1');
  const byMark = encodingOf({ head: marked, utf16: null }, undefined);
  assert.deepEqual(byMark, { encoding: 'utf-8', isEncodingGuessed: false });
});
