import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText, encodeText, guessEncoding } from '../../src/formats/bytes/decode-text.ts';
import { guessUtf16, unfinishedBytes, utf8Of, utf16Of } from '../../src/rows/files/text-encoding.ts';
import { fc } from '../properties.ts';

/** Any 16-bit units: halves of surrogate pairs that stand alone are frequent. */
const units = fc.array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0x7f)), {
  maxLength: 40,
});

test('UTF-8 cut anywhere is finished by the bytes that follow', () => {
  fc.assert(
    fc.property(units, fc.nat(120), (numbers, at) => {
      const whole = utf8Of(Buffer.from(Uint16Array.from(numbers).buffer));
      const cut = Math.min(at, whole.length);
      const end = cut - unfinishedBytes(whole.subarray(0, cut));
      assert.deepEqual(Buffer.concat([utf16Of(whole.subarray(0, end)), utf16Of(whole.subarray(end))]), utf16Of(whole));
    }),
    { numRuns: 1_000 },
  );
});

test('UTF-16 is known by its mark or by the zeros of ASCII', () => {
  const text = Buffer.from('lat,lng,name\r\n34.05,-118.25,Łódź\r\n', 'utf16le');
  assert.equal(guessUtf16(text), 'utf-16le');
  assert.equal(guessUtf16(Buffer.from(text).swap16()), 'utf-16be');
  assert.equal(guessUtf16(Buffer.from('\xff\xfe\x30\x31', 'latin1')), 'utf-16le');
  assert.equal(guessUtf16(Buffer.from('\xfe\xff\x30\x31', 'latin1')), 'utf-16be');
  assert.equal(guessUtf16(Buffer.from('\xff\xfe\0\0', 'latin1')), null);
  assert.equal(guessUtf16(Buffer.from('lat,lng\n1,2\n')), null);
  assert.equal(guessUtf16(Buffer.alloc(400)), null);
  assert.equal(guessUtf16(Buffer.alloc(0)), null);
});

test('a sample is UTF-8 unless it has bytes that cannot be', () => {
  assert.equal(guessEncoding(Buffer.from('plain')), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('é€')), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('é€🌀').subarray(0, -1)), 'utf-8');
  assert.equal(guessEncoding(Buffer.from('Caf\xe9 au lait', 'latin1')), 'windows-1252');
  const pasted = Buffer.from('Caf\xe9\n', 'latin1');
  assert.equal(guessEncoding(Buffer.concat([pasted, Buffer.from('Peña,Cañon\n')])), 'utf-8');
  assert.equal(guessEncoding(Buffer.concat([Buffer.from('Peña\n'), pasted, pasted])), 'windows-1252');
});

test('bytes that are not UTF-8 are read as windows-1252, the replacement character itself stays', () => {
  const decode = (bytes: Buffer) => decodeText(bytes, 0, bytes.length, 'utf-8');
  assert.equal(decode(Buffer.from('37\ufffd36')), '37\ufffd36');
  assert.equal(decode(Buffer.from('\x80 \xb5g', 'latin1')), '€ µg');
  assert.equal(decodeText(Buffer.from('\x93a\x94', 'latin1'), 0, 3, 'windows-1252'), '“a”');
});

test('added text is written in the encoding of the file', () => {
  assert.equal(encodeText('µg/m³', 'utf-8'), Buffer.from('µg/m³').toString('latin1'));
  assert.equal(encodeText('µg/m³ €≥', 'windows-1252'), '\xb5g/m\xb3 \x80?');
  assert.equal(encodeText('plain', 'windows-1252'), 'plain');
});
