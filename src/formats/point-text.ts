/** A point as Well-Known Binary, little-endian, one character a byte: its form in the fields of a row. */
export function pointText(lat: number, lng: number): string {
  const bytes = Buffer.allocUnsafe(21);
  bytes[0] = 1;
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(lng, 5);
  bytes.writeDoubleLE(lat, 13);
  return bytes.toString('latin1');
}

/** The degrees of a text that `pointText` made. */
export function degreesOfPoint(text: string): { readonly lat: number; readonly lng: number } {
  const bytes = Buffer.from(text, 'latin1');
  return { lng: bytes.readDoubleLE(5), lat: bytes.readDoubleLE(13) };
}
