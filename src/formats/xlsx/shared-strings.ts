import { SaxesParser } from 'saxes';
import { PerilbookError } from '../../base/errors.ts';
import { localName, type Workbook } from './workbook.ts';

/** The texts that cells name by number. */
export type SharedStrings = (index: number) => string | undefined;

/** The texts are in memory, as UTF-8 without objects of their own: 4 million texts of 30 letters take 150 MB. */
const MOST_BYTES = 1024 * 1024 * 1024;

export async function readSharedStrings({ source, zip, sharedStrings: entry }: Workbook): Promise<SharedStrings> {
  if (!entry) return () => undefined;
  let bytes = Buffer.allocUnsafe(Math.min(1024 * 1024, entry.uncompressedSize + 1024));
  /** Where each text begins, and where the last one ends. */
  const offsets = [0];
  const keep = (text: string): void => {
    const used = offsets.at(-1)!;
    const most = used + text.length * 3;
    if (most > bytes.length) {
      if (used > MOST_BYTES) {
        const what = `has more than ${MOST_BYTES / 1024 / 1024} MiB of texts`;
        throw source.refused(what, 'Save the sheet as CSV and give Perilbook that file.');
      }
      bytes = Buffer.concat([bytes.subarray(0, used)], Math.max(bytes.length * 2, most));
    }
    offsets.push(used + bytes.write(text, used, 'utf8'));
  };
  let text = '';
  let isText = false;
  let phonetic = 0;
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    const local = localName(name);
    if (local === 'si') text = '';
    else if (local === 'rPh') phonetic++;
    else if (local === 't') isText = phonetic === 0;
  });
  parser.on('text', (part) => {
    if (isText) text += part;
  });
  parser.on('closetag', ({ name }) => {
    const local = localName(name);
    if (local === 'si') keep(text);
    else if (local === 'rPh') phonetic--;
    else if (local === 't') isText = false;
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of zip.unpacked(entry)) parser.write(decoder.decode(chunk, { stream: true }));
    parser.write(decoder.decode()).close();
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    throw zip.damaged(`its part ${entry.fileName} is not XML`, error);
  }
  return (index) =>
    index >= 0 && index < offsets.length - 1 ? bytes.toString('utf8', offsets[index], offsets[index + 1]) : undefined;
}
