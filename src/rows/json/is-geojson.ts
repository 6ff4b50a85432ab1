/** True when the head looks like a FeatureCollection, a Feature, or one feature after the other: on separate lines, or
 * after the separators of RFC 8142. */
export function isGeojson(head: Buffer): boolean {
  const text = head.toString('latin1');
  if (!BEGINS_OBJECT.test(text)) return false;
  if (/"type"\s*:\s*"FeatureCollection"/.test(text)) return text.includes('"features"');
  return /"type"\s*:\s*"Feature"/.test(text) && /"geometry"\s*:/.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the separator of RFC 8142 is one
const BEGINS_OBJECT = /^(?:\xef\xbb\xbf)?[\s\x1e]*\{/;
