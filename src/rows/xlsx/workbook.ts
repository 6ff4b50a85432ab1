import { posix } from 'node:path';
import { SaxesParser } from 'saxes';
import type { Entry } from 'yauzl';
import { didYouMean } from '../../nearest-name.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import { damaged, partText, readDirectory, type ZipParts } from './zip-reader.ts';

/** A sheet of a workbook, and what is needed to read it. */
export interface Workbook {
  readonly parts: ZipParts;
  readonly sheetName: string;
  /** Counted from 1, among all sheets. */
  readonly sheetNumber: number;
  readonly sheetCount: number;
  readonly sheet: Entry;
  readonly sharedStrings: Entry | undefined;
  readonly styles: Entry | undefined;
  /** Day 0 is in 1904, not in 1900. */
  readonly counts1904: boolean;
  /** A macro-enabled workbook (.xlsm). */
  readonly hasMacros: boolean;
}

/** The parts that name the others are small: a few hundred bytes for each sheet. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Finds the sheet that is to be read. @param wanted its name or its number from 1; left out, the first one that is shown.
 * @throws INPUT_UNREADABLE, USAGE */
export async function openWorkbook(input: InputFile, wanted?: string): Promise<Workbook> {
  const parts = await readDirectory(input);
  refuseOthers(input.name, parts);
  const types = await readElements(input, parts.find('[Content_Types].xml'));
  const main = (await relationsOf(input, parts, '')).find(({ type }) => type.endsWith('/officeDocument'));
  const workbook = main && parts.find(main.target);
  if (!main || !workbook)
    throw unreadable(input.name, 'is a zip archive', 'Unpack it first, then give Perilbook a file of it.');
  if (main.target.endsWith('.bin')) {
    throw unreadable(input.name, 'is a binary Excel workbook (.xlsb)', 'Save it as "Excel Workbook (.xlsx)" first.');
  }
  const elements = await readElements(input, workbook);
  const relations = await relationsOf(input, parts, main.target);
  const sheets = elements.filter(({ name }) => name === 'sheet').map(({ attributes }) => attributes);
  const relationOf = (sheet: Attributes) => relations.find(({ id }) => id === sheet.id);
  const isSheet = (sheet: Attributes) => relationOf(sheet)?.type.endsWith('/worksheet') === true;
  const chosen = chooseSheet(input.name, sheets, isSheet, wanted);
  const sheet = parts.find(relationOf(sheets[chosen]!)?.target ?? '');
  if (!sheet) throw damaged(input.name, `its sheet "${sheets[chosen]!.name}" is missing`);
  const partOf = (kind: string) => {
    const found = relations.find(({ type }) => type.endsWith(`/${kind}`));
    return found && parts.find(found.target);
  };
  return {
    parts,
    sheetName: sheets[chosen]!.name ?? '',
    sheetNumber: chosen + 1,
    sheetCount: sheets.length,
    sheet,
    sharedStrings: partOf('sharedStrings'),
    styles: partOf('styles'),
    counts1904: elements.some(({ name, attributes }) => name === 'workbookPr' && isTrue(attributes.date1904)),
    hasMacros: types.some(({ attributes }) => /macroEnabled/i.test(attributes.ContentType ?? '')),
  };
}

type Attributes = Readonly<Record<string, string>>;

interface Element {
  /** Without the prefix of its namespace; so are the names of its attributes. */
  readonly name: string;
  readonly attributes: Attributes;
}

/** All elements of a small part, in their order. */
export async function readElements(input: InputFile, entry: Entry | undefined): Promise<Element[]> {
  if (!entry) return [];
  const found: Element[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const plain = Object.entries(attributes).map(([key, value]) => [localName(key), value]);
    found.push({ name: localName(name), attributes: Object.fromEntries(plain) });
  });
  const text = await partText(input, entry, MOST_BYTES);
  try {
    parser.write(text).close();
  } catch (error) {
    throw damaged(input.name, `its part ${entry.fileName} is not XML`, error);
  }
  return found;
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** What a part points to, each with its path in the zip. */
async function relationsOf(input: InputFile, parts: ZipParts, source: string) {
  const path = posix.join(posix.dirname(source), '_rels', `${posix.basename(source)}.rels`);
  const elements = await readElements(input, parts.find(path));
  return elements
    .filter(({ name }) => name === 'Relationship')
    .map(({ attributes: { Id = '', Type = '', Target = '' } }) => ({
      id: Id,
      type: Type,
      target: Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(source), Target),
    }));
}

const isTrue = (text: string | undefined) => text === '1' || text === 'true';

function chooseSheet(
  file: string,
  sheets: readonly Attributes[],
  isSheet: (sheet: Attributes) => boolean,
  wanted: string | undefined,
): number {
  const names = sheets.map(({ name = '' }) => name);
  if (wanted === undefined) {
    const shown = sheets.findIndex((sheet) => isSheet(sheet) && (sheet.state ?? 'visible') === 'visible');
    const first = shown >= 0 ? shown : sheets.findIndex(isSheet);
    if (first < 0)
      throw unreadable(file, 'is a workbook without a sheet of cells', 'Check that this is the file that you mean.');
    return first;
  }
  const exact = names.indexOf(wanted);
  const loose = names.findIndex((name) => name.trim().toLowerCase() === wanted.trim().toLowerCase());
  const number = /^\d+$/.test(wanted.trim()) ? Number(wanted) - 1 : -1;
  const found = [exact, loose, number].find((index) => index >= 0 && index < sheets.length);
  if (found === undefined) {
    const what = `has no sheet ${JSON.stringify(wanted)}${didYouMean(wanted, names)}`;
    throw unreadable(file, what, `Its sheets are: ${names.map((name) => `"${name}"`).join(', ')}.`);
  }
  if (isSheet(sheets[found]!)) return found;
  throw unreadable(file, `is a workbook whose sheet "${names[found]}" has no cells`, 'Name another one: --sheet NAME.');
}

function refuseOthers(file: string, parts: ZipParts): void {
  if (parts.find('content.xml') && parts.find('META-INF/manifest.xml')) {
    throw unreadable(
      file,
      'is an OpenDocument spreadsheet (.ods)',
      'Save it as "Excel Workbook (.xlsx)" or as CSV first.',
    );
  }
  if (parts.find('[Content_Types].xml')) return;
  throw unreadable(file, 'is a zip archive', 'Unpack it first, then give Perilbook a file of it.');
}
