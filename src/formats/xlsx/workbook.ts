import { posix } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import { type Damaged, readZip, type Zip, type ZipEntry } from '../zip/zip-reader.ts';
import { type Attributes, localName, type PartParser, partParser } from './part-parser.ts';

/** A workbook, opened at the sheet to read. */
export interface Workbook {
  readonly source: ByteSource;
  readonly zip: Zip;
  readonly sheetName: string;
  /** Counted from 1, among all sheets. */
  readonly sheetNumber: number;
  readonly sheetCount: number;
  /** The names of the other sheets that have cells. */
  readonly otherSheets: readonly string[];
  readonly sheet: ZipEntry;
  /** The part that names the sheets. */
  readonly main: ZipEntry;
  readonly sharedStrings: ZipEntry | undefined;
  readonly styles: ZipEntry | undefined;
  /** Day 0 is in 1904, not in 1900. */
  readonly counts1904: boolean;
  /** A macro-enabled workbook (.xlsm). */
  readonly hasMacros: boolean;
}

/** The parts that name the others are small: a few hundred bytes for each sheet. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Opens a workbook at the sheet to read.
 * @param wanted its name, its number from 1, or a pattern of its name; the first visible sheet by default, or if no name matches
 * @throws the error of `source.refused` */
export async function openWorkbook(
  source: ByteSource,
  wanted?: string | RegExp,
): Promise<Workbook> {
  const zip = await readZip(source, damagedWorkbook(source));
  refuseOthers(source, zip);
  const types = await readElements(zip, zip.find('[Content_Types].xml'));
  const main = (await readRelations(zip, '')).find(({ type }) => type.endsWith('/officeDocument'));
  const workbook = main && zip.find(main.target);
  if (!main || !workbook) throw source.refused('is a zip archive', UNPACK);
  if (main.target.endsWith('.bin')) {
    throw source.refused(
      'is a binary Excel workbook (.xlsb)',
      'Save it as "Excel Workbook (.xlsx)" first.',
    );
  }
  const elements = await readElements(zip, workbook);
  const relations = await readRelations(zip, main.target);
  const sheets = elements
    .filter(({ name }) => name === 'sheet')
    .map(({ attributes }) => attributes);
  const relationOf = (sheet: Attributes) => relations.find(({ id }) => id === sheet.id);
  const isSheet = (sheet: Attributes) => relationOf(sheet)?.type.endsWith('/worksheet') === true;
  const chosen = chooseSheet(source, sheets, isSheet, wanted);
  const sheet = zip.find(relationOf(sheets[chosen]!)?.target ?? '');
  if (!sheet) throw zip.damaged(`its sheet "${sheets[chosen]!.name}" is missing`);
  const partOf = (kind: string) => {
    const relation = relations.find(({ type }) => type.endsWith(`/${kind}`));
    return relation && zip.find(relation.target);
  };
  return {
    source,
    zip,
    sheetName: sheets[chosen]!.name ?? '',
    sheetNumber: chosen + 1,
    sheetCount: sheets.length,
    otherSheets: sheets
      .filter((other, at) => at !== chosen && isSheet(other))
      .map(({ name = '' }) => name),
    sheet,
    main: workbook,
    sharedStrings: partOf('sharedStrings'),
    styles: partOf('styles'),
    counts1904: elements.some(
      ({ name, attributes }) => name === 'workbookPr' && isTrue(attributes.date1904),
    ),
    hasMacros: types.some(({ attributes }) => /macroEnabled/i.test(attributes.ContentType ?? '')),
  };
}

const UNPACK = 'Unpack it first, then give Perilbook a file of it.';

function damagedWorkbook(source: ByteSource): Damaged {
  const hint = 'Open it in Excel or LibreOffice and save it again, or fetch it again.';
  return (what, cause) => {
    const whole = 'is an Excel workbook or another zip archive, and it is cut off or damaged';
    return source.refused(
      what === null ? whole : `is a damaged Excel workbook: ${what}`,
      hint,
      cause,
    );
  };
}

interface Element {
  /** Without the namespace prefix, like the names of its attributes. */
  readonly name: string;
  readonly attributes: Attributes;
}

/** All elements of a small part, in their order. */
export async function readElements(zip: Zip, entry: ZipEntry | undefined): Promise<Element[]> {
  if (!entry) return [];
  const elements: Element[] = [];
  const parser = partParser({
    opens(name, attributes) {
      const plain = Object.entries(attributes).map(([key, value]) => [localName(key), value]);
      elements.push({ name: localName(name), attributes: Object.fromEntries(plain) });
    },
  });
  requireSmall(zip, entry);
  await parsePart(zip, entry, parser);
  return elements;
}

function requireSmall(zip: Zip, { fileName, uncompressedSize }: ZipEntry): void {
  if (uncompressedSize <= MOST_BYTES) return;
  throw zip.damaged(`its part ${fileName} is too large (${uncompressedSize} bytes)`);
}

/** The text of a small part, which declares UTF-8. @throws Error of the zip where it is too large or no text */
export async function readText(zip: Zip, entry: ZipEntry): Promise<string> {
  const texts: string[] = [];
  requireSmall(zip, entry);
  await parsePart(zip, entry, {
    position: 0,
    read: (text) => void texts.push(text),
    end: () => {},
  });
  return texts.join('');
}

/** Gives a part to a parser of XML, chunk by chunk. */
export async function parsePart(zip: Zip, entry: ZipEntry, parser: PartParser): Promise<void> {
  const decode = partDecoder();
  try {
    for await (const chunk of zip.unpacked(entry)) parser.read(decode(chunk));
    parser.read(decode(null));
    parser.end();
  } catch (error) {
    throw error instanceof PerilbookError
      ? error
      : zip.damaged(
          `its part ${entry.fileName} cannot be read (${(error as Error).message})`,
          error,
        );
  }
}

/** What a part points to, each with its path in the zip. */
export async function readRelations(
  zip: Zip,
  part: string,
): Promise<{ readonly id: string; readonly type: string; readonly target: string }[]> {
  const path = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
  const elements = await readElements(zip, zip.find(path));
  return elements
    .filter(({ name }) => name === 'Relationship')
    .map(({ attributes: { Id = '', Type = '', Target = '' } }) => ({
      id: Id,
      type: Type,
      target: Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target),
    }));
}

const isTrue = (text: string | undefined) => text === '1' || text === 'true';

function chooseSheet(
  source: ByteSource,
  sheets: readonly Attributes[],
  isSheet: (sheet: Attributes) => boolean,
  wanted: string | RegExp | undefined,
): number {
  const names = sheets.map(({ name = '' }) => name);
  if (typeof wanted !== 'string') {
    const like = sheets.findIndex((sheet) => wanted?.test(sheet.name ?? '') && isSheet(sheet));
    if (like >= 0) return like;
    const shown = sheets.findIndex(
      (sheet) => isSheet(sheet) && (sheet.state ?? 'visible') === 'visible',
    );
    const first = shown >= 0 ? shown : sheets.findIndex(isSheet);
    if (first < 0)
      throw source.refused(
        'is a workbook without a sheet of cells',
        'Check that this is the right file.',
      );
    return first;
  }
  const exact = names.indexOf(wanted);
  const loose = names.findIndex(
    (name) => name.trim().toLowerCase() === wanted.trim().toLowerCase(),
  );
  const number = /^\d+$/.test(wanted.trim()) ? Number(wanted) - 1 : -1;
  const chosen = [exact, loose, number].find((index) => index >= 0 && index < sheets.length);
  if (chosen === undefined) {
    const what = `has no sheet ${JSON.stringify(wanted)}${didYouMean(wanted, names)}`;
    throw source.refused(what, `Its sheets are: ${names.map((name) => `"${name}"`).join(', ')}.`);
  }
  if (isSheet(sheets[chosen]!)) return chosen;
  throw source.refused(
    `is a workbook whose sheet "${names[chosen]}" has no cells`,
    'Name another one: --sheet NAME.',
  );
}

function refuseOthers(source: ByteSource, zip: Zip): void {
  if (zip.find('content.xml') && zip.find('META-INF/manifest.xml')) {
    const hint = 'Save it as "Excel Workbook (.xlsx)" or as CSV first.';
    throw source.refused('is an OpenDocument spreadsheet (.ods)', hint);
  }
  if (!zip.find('[Content_Types].xml')) throw source.refused('is a zip archive', UNPACK);
}

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
