import { strToU8, unzipSync, zipSync } from 'fflate';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export interface FixtureSheet {
  readonly name: string;
  /** The XML between the tags of `sheetData`. */
  readonly rows: string;
  readonly before?: string;
  readonly after?: string;
  readonly hidden?: boolean;
}

export interface FixtureOptions {
  readonly strings?: readonly string[];
  readonly styles?: string;
  readonly workbookPr?: string;
  readonly contentType?: string;
  readonly extra?: Readonly<Record<string, Uint8Array>>;
}

/** A workbook made by hand, as Excel lays it out. */
export function workbook(sheets: readonly FixtureSheet[], options: FixtureOptions = {}): Buffer {
  const {
    strings = [],
    styles,
    workbookPr = '',
    contentType = `${CONTENT}.sheet.main+xml`,
    extra = {},
  } = options;
  const xml = (text: string) =>
    strToU8(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n${text}`);
  const relations = sheets.map(
    (_, i) =>
      `<Relationship Id="rId${i + 1}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
  );
  const parts: Record<string, Uint8Array> = {
    '[Content_Types].xml': xml(
      `<Types xmlns="${PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="${contentType}"/></Types>`,
    ),
    '_rels/.rels': xml(
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    'xl/workbook.xml': xml(
      `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}">${workbookPr}<sheets>${sheets
        .map(
          ({ name, hidden }, i) =>
            `<sheet name="${name}" sheetId="${i + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${i + 1}"/>`,
        )
        .join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': xml(
      `<Relationships xmlns="${PACKAGE}/relationships">${relations.join('')}<Relationship Id="rId90" Type="${DOCUMENT}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId91" Type="${DOCUMENT}/styles" Target="/xl/styles.xml"/></Relationships>`,
    ),
    'xl/sharedStrings.xml': xml(`<sst xmlns="${MAIN}">${strings.join('')}</sst>`),
    ...(styles === undefined
      ? {}
      : { 'xl/styles.xml': xml(`<styleSheet xmlns="${MAIN}">${styles}</styleSheet>`) }),
    ...extra,
  };
  for (const [i, { rows, before = '', after = '' }] of sheets.entries()) {
    parts[`xl/worksheets/sheet${i + 1}.xml`] = xml(
      `<worksheet xmlns="${MAIN}">${before}<sheetData>${rows}</sheetData>${after}</worksheet>`,
    );
  }
  return Buffer.from(zipSync(parts, { mtime: '2024-05-06T07:08:10' }));
}

/** The parts of a zip by their names. */
export function partsOf(zip: Buffer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(unzipSync(zip)).map(([name, bytes]) => [
      name,
      Buffer.from(bytes).toString('latin1'),
    ]),
  );
}

/** The cells of a sheet by reference, read with nothing of ours: numbers as numbers, texts as texts. */
export function cellsOf(
  sheet: string,
  strings: readonly string[] = [],
): Record<string, string | number> {
  const cells: Record<string, string | number> = {};
  for (const [, attributes, inside] of sheet.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)) {
    const [, reference] = /\br="([A-Z]+\d+)"/.exec(attributes!) ?? [];
    const [, value] = /<v>(.*?)<\/v>/s.exec(inside ?? '') ?? [];
    const [, text] = /<t\b[^>]*>(.*?)<\/t>/s.exec(inside ?? '') ?? [];
    if (text !== undefined) cells[reference!] = text;
    else if (value !== undefined)
      cells[reference!] = /t="s"/.test(attributes!) ? strings[Number(value)]! : Number(value);
  }
  return cells;
}
