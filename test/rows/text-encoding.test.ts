import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText, encodeText, guessEncoding } from '../../src/formats/bytes/decode-text.ts';

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
