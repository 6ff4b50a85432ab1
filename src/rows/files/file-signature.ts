import { unreadable } from './input-file.ts';

const UNPACK = 'Unpack it first, then give Perilbook the unpacked file.';
const SAVE_AS = 'Save the sheet as "CSV UTF-8" and give Perilbook that file.';
const EXPORT = 'Export it as CSV and give Perilbook that file.';

/** A table by columns or by keys is what pandas writes without `orient`. */
const ROWS =
  'Write an object a row: in pandas with to_json(FILE, orient="records"), from an object of objects with: jq -c ".[]" FILE > rows.ndjson.';

const SAVE_LAYER =
  'Save its layer as GeoJSON in longitude and latitude, in QGIS or with: ogr2ogr -t_srs EPSG:4326 out.geojson FILE.';

const arraysHint = (filter: string): string =>
  `Make it a CSV file, for instance with: jq -r '${filter}' FILE > rows.csv, and add --no-header if no row has names.`;

const PARQUET = /^PAR[1E](?:[^\w,;|\t -]|[\s\S]{2}\0\0)/;

/** True when the first bytes are those of a Parquet file, encrypted or not. */
export function isParquet(head: Buffer): boolean {
  return PARQUET.test(head.toString('latin1', 0, 16));
}

/** The first bytes of files that are not CSV, as latin1 text; no header begins like this. */
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: magic numbers are made of them
const SIGNATURES: readonly {
  readonly start: RegExp;
  readonly what: string;
  readonly hint: string;
}[] = [
  { start: PARQUET, what: 'a Parquet file that was compressed again', hint: UNPACK },
  { start: /^ARROW1\0/, what: 'an Arrow file', hint: EXPORT },
  { start: /^(?:\x1f\x8b|\x28\xb5\x2f\xfd)/, what: 'compressed twice', hint: UNPACK },
  { start: /^[^\0]+\0[\s\S]{150,256}ustar/, what: 'a tar archive', hint: UNPACK },
  { start: /^BZh[1-9]1AY/, what: 'compressed with bzip2', hint: UNPACK },
  { start: /^\xfd7zXZ/, what: 'compressed with xz', hint: UNPACK },
  { start: /^7z\xbc\xaf/, what: 'a 7-Zip archive', hint: UNPACK },
  {
    start: /^PK\x03\x04[\s\S]*(?:\[Content_Types\]\.xml|_rels\/|xl\/)/,
    what: 'an Excel workbook that was compressed again',
    hint: UNPACK,
  },
  { start: /^PK\x03\x04/, what: 'a zip archive', hint: UNPACK },
  // Excel stores a workbook with a password in the container of its old format; the name is in UTF-16.
  {
    start: /^\xd0\xcf\x11\xe0[\s\S]*E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k/,
    what: 'an Excel workbook with a password',
    hint: 'Open it in Excel, remove the password (File, Info, Protect Workbook), and save it again.',
  },
  {
    start: /^\xd0\xcf\x11\xe0/,
    what: 'an old Excel workbook (.xls), or one with a password',
    hint: 'Save it as "Excel Workbook (.xlsx)", without a password.',
  },
  { start: /^SQLite format 3\0[\s\S]{52}GPKG/, what: 'a GeoPackage (.gpkg)', hint: SAVE_LAYER },
  { start: /^SQLite format 3\0/, what: 'an SQLite database', hint: EXPORT },
  { start: /^\0\0\x27\x0a\0{20}/, what: 'the shapes of a shapefile (.shp)', hint: SAVE_LAYER },
  // A year, a month and a day follow the version.
  {
    start: /^[\x03\x83\x8b][\s\S][\x01-\x0c][\x01-\x1f]/,
    what: 'a dBASE table (.dbf)',
    hint: SAVE_LAYER,
  },
  { start: /^%PDF-/, what: 'a PDF document', hint: 'Look for the table as a CSV file.' },
  { start: /^(?:\xff\xfe\0\0|\0\0\xfe\xff)/, what: 'text in UTF-32', hint: SAVE_AS },
  {
    start: /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml)/i,
    what: 'a web page or XML',
    hint: 'If Excel opens it as a table, save it there as .xlsx or CSV. Else fetch the CSV file again.',
  },
  {
    start: /^(?:\xef\xbb\xbf)?\s*\[\s*\[/,
    what: 'JSON whose rows are arrays',
    hint: arraysHint('.[] | @csv'),
  },
  {
    start: /^(?:\xef\xbb\xbf)?\s*\[[^\r\n]*\]\s*(?:[\r\n]\s*\[|$)/,
    what: 'JSON with an array on each line',
    hint: arraysHint('@csv'),
  },
  {
    start: /^(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"0"\s*:/,
    what: 'JSON by columns, as pandas writes it with orient="columns"',
    hint: 'Write it with orient="records": df.to_json(FILE, orient="records"). To read this one again: pd.read_json(FILE, orient="columns").',
  },
  {
    start: /^(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*\{)/,
    what: 'JSON that is not rows: an object a line, one list of objects, or GeoJSON',
    hint: ROWS,
  },
];
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Refuses a file whose first bytes are not CSV, and names its kind. */
export function refuseOtherFormats(file: string, head: Buffer): void {
  // The directory of such a container can be anywhere in it.
  const isContainer = head.toString('latin1', 0, 4) === '\xd0\xcf\x11\xe0';
  const start = head.toString('latin1', 0, isContainer ? head.length : 4096);
  const signature = SIGNATURES.find((format) => format.start.test(start));
  if (signature) throw unreadable(file, `is ${signature.what}`, signature.hint);
  if (RECORD_SEPARATORS.test(start)) {
    const hint =
      "Put each record on a line of its own, for instance with: tr '\\034\\035\\036\\037' '\\n\\n\\n\\t' < FILE > rows.tsv.";
    throw unreadable(
      file,
      'separates its records with a control character, not with line ends',
      hint,
    );
  }
  // NUL bytes and Ctrl-Z fill up the end of a file.
  if (isBinary(start.replace(PADDING, '')))
    throw unreadable(file, 'is binary data', 'Check that this is the right file.');
}

/** Text has almost no control characters, except one that separates fields. Zero bytes stand between its characters, or fill fields; a
 * line of names has no two of them together. */
function isBinary(start: string): boolean {
  const [header = ''] = start.split(/[\r\n]+/).filter(Boolean);
  const [delimiter] = header.match(CONTROLS) ?? [];
  const controls = start.match(CONTROLS) ?? [];
  const zeros = start.split('\0').length - 1;
  const others = controls.filter((control) => control !== delimiter).length;
  return header.includes('\0\0') || zeros * 5 > start.length || others * 50 > start.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const PADDING = /[\0\x1a\s]+$/;

/** ASCII's own separators of fields (\x1f) and of records, groups and files: the first line has both, or no line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const RECORD_SEPARATORS = /^[^\r\n]*\x1f[^\r\n]*[\x1c-\x1e]/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\x01-\x08\x0e-\x1a\x1c-\x1f]/g;
