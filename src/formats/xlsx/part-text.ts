/** The longest XML declaration that is looked at: `<?xml version="1.0" encoding="UTF-16" standalone="yes"?>` has 55 letters. */
const DECLARATION_BYTES = 256;

/** Decodes a part of a workbook chunk by chunk; null ends it. Parts are UTF-8 unless their first bytes or their declaration say otherwise
 * (XML 1.0, appendix F); their text then declares UTF-8, in which an edited part is written. Throws where the bytes are no such text. */
export function partDecoder(): (chunk: Buffer | null) => string {
  let head = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  return (chunk) => {
    if (decoder !== null) return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    if (chunk) head = Buffer.concat([head, chunk]);
    if (chunk && head.length < DECLARATION_BYTES) return '';
    const encoding = encodingOf(head);
    // The byte order mark of UTF-8 stays in a part that is copied.
    decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: encoding === 'utf-8' });
    const text = decoder.decode(head, { stream: chunk !== null });
    return encoding === 'utf-8' ? text : text.replace(DECLARED, '$1UTF-8$3');
  };
}

const DECLARED = /^(<\?xml\b[^>]*?\sencoding\s*=\s*["'])([\w.:-]+)(["'])/;

function encodingOf(head: Buffer): string {
  const first = head.toString('latin1', 0, DECLARATION_BYTES);
  if (/^(?:\xff\xfe|<\0)/.test(first)) return 'utf-16le';
  if (/^(?:\xfe\xff|\0<)/.test(first)) return 'utf-16be';
  const [, , label = 'utf-8'] = DECLARED.exec(first) ?? [];
  // Texts that .NET made are declared as UTF-16 and often written as UTF-8.
  if (/^u(?:tf|cs|nicode)/i.test(label)) return 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return 'utf-8';
  }
}
