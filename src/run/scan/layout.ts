import { PerilbookError } from '../../base/errors.ts';
import type { LossColumns } from '../../columns/loss-columns.ts';
import {
  addedColumns,
  geometryColumn,
  LEADING_COLUMNS,
  type PerilbookColumn,
  perilbookColumns,
} from '../../columns/row.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import type { PlaceOrder } from '../../geo/place-order.ts';
import type { Job } from '../../job/settings.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { decideLocation } from '../../rows/location/decide-location.ts';
import { type FileHead, firstRows, readHead } from '../../rows/location/file-head.ts';
import type { CompassColumns, LocationColumns } from '../../rows/location/location-columns.ts';
import { withSheets } from '../../rows/location/location-hints.ts';
import { formatNamed, formatOfOutput } from '../../rows/open/file-formats.ts';
import { otherFormat } from '../../rows/open/open-row-file.ts';
import type { AddedColumn, RowSource } from '../../rows/port.ts';
import { type AmountCurrency, amountCurrency, currencyColumn } from './currency.ts';
import { type KeptAnswers, keptAnswersAt } from './kept-answers.ts';
import { type CodeColumn, codeColumnNote, codeColumns } from './row-codes.ts';
import { buildingColumns, columnByName, FIRST_VALUE, valueColumns } from './value.ts';

/** The roles of the input's columns. */
export interface Layout {
  /** The columns that each pass reads: latitude, longitude, the value columns (summed), the currency, the compass letters, the
   * codes. */
  readonly columns: readonly number[];
  readonly values: number;
  /** Whether a value may be negative: in a column that the job names. */
  readonly mayBeNegative: boolean;
  /** The position of the currency code among the columns that are read; null without values, or without such a column. */
  readonly currency: number | null;
  readonly amountCurrency: AmountCurrency;
  /** The column with the id of a location, where the job names one. */
  readonly id: number | null;
  /** How latitude and longitude are read from one column, which is read twice; null for two columns. */
  readonly pair: PairReading | null;
  /** The positions of the compass letters of latitude and longitude among the columns that are read; null where there are none. */
  readonly compass: CompassColumns | null;
  /** The columns with codes of the rows' own, and their positions among the columns that are read. */
  readonly codes: readonly (CodeColumn & { readonly at: number })[];
  /** The output gets a point in each row: GeoParquet, or GeoJSON made from another format. */
  readonly hasPoints: boolean;
  /** Rows may have remarks, which go into their notes. */
  readonly hasRemarks: boolean;
  readonly isConverted: boolean;
  /** Notes for the user: the chosen columns and the sheet. */
  readonly notes: readonly string[];
  /** The first column that an earlier run of Perilbook added, or null. */
  readonly dropFrom: number | null;
  /** Columns of an earlier run that stay: their topics are not in this job. */
  readonly kept: readonly KeptColumn[];
  /** What the rows say of these, at the positions of the columns that the scan reads, the kept ones last; null without such columns. */
  readonly keptAnswers: KeptAnswers | null;
  readonly added: readonly AddedColumn[];
  /** The columns of losses that are added. */
  readonly losses: LossColumns;
  /** The positions among the columns that are read of those whose sum the loss rates apply to; none without amounts of losses. */
  readonly lossValues: readonly number[];
  readonly used: UsedColumns;
}

/** The order of the two numbers of a value: given by the user, or as the values of the file decide where their form leaves it open. */
export interface PairReading {
  readonly given: PlaceOrder | null;
  readonly assumed: PlaceOrder;
}

export type KeptColumn = AddedColumn & { readonly keeps: number; readonly topic: TopicSlug };

/** The columns that a job uses, as `--json` prints them; null for none. @public: the declaration of a plan names it */
export interface UsedColumns {
  /** The column of the latitude, or of the whole location. */
  readonly lat: string;
  /** The column of the longitude; the same where one column holds the location. */
  readonly lng: string;
  /** The columns of the value; empty where there is none. */
  readonly value: readonly string[];
  /** The columns that the loss rates apply to, those of buildings where they are known; absent without losses. */
  readonly loss_value?: readonly string[];
  /** By layer, the column whose codes answer it before the location does; left out where there is none. */
  readonly codes?: Readonly<Record<string, string>>;
}

/** Says why losses have no amounts: without it, a misspelt value column would be noticed in the output only. */
function ratesAlone({ orderBy }: Job): string {
  const cause =
    orderBy.kind === 'file'
      ? 'the order of the file is asked for, so no value column is read'
      : 'no value column is recognized';
  return `Losses are rates without amounts, because ${cause}. Name it: --order-by COLUMN (order_by: {column: COLUMN} in the job file).`;
}

/** Reads the head of a file, and decides its layout. @throws INPUT_*, OUTPUT_UNWRITABLE */
export async function findLayout(rowFile: RowSource, job: Job): Promise<Layout> {
  const head = await readHead(rowFile);
  const dropFrom = findPerilbookColumns(head.columns, perilbookColumns(job.prefix));
  const names = dropFrom === null ? head.columns : head.columns.slice(0, dropFrom);
  try {
    const location = decideLocation(head, names, job.location, rowFile, job.input);
    const values = valueColumns(names, job.orderBy, job.input);
    const amounts = await firstAmounts(head, values, rowFile);
    return decideLayout(head, { names, dropFrom, location, values, amounts }, rowFile, job);
  } catch (error) {
    throw await withSheets(error, names, rowFile, job.location);
  }
}

/** The texts of the value columns in the first rows, whose signs say a currency. The head of a columnar file may lack them; of numbers none
 * is read, because they have no sign. */
async function firstAmounts(
  { rows, asked }: FileHead,
  values: readonly number[],
  rowFile: RowSource,
): Promise<string[]> {
  const { isColumnar, textColumns } = rowFile;
  if (isColumnar !== true)
    return rows.flatMap(({ fields }) => values.map((column) => fields[column] ?? ''));
  const texts = values.filter((column) => textColumns?.includes(column));
  if (texts.length === 0) return [];
  return (await firstRows(rowFile, texts, asked)).flatMap(({ fields }) => fields);
}

/** What is decided first of the columns. */
interface OwnColumns {
  /** Those without the columns of an earlier run. */
  readonly names: readonly string[];
  readonly dropFrom: number | null;
  readonly location: LocationColumns;
  readonly values: readonly number[];
  /** Their texts in the first rows. */
  readonly amounts: readonly string[];
}

/** Decides the roles of the columns by the head of a file. Reads nothing. @throws INPUT_COLUMNS, OUTPUT_UNWRITABLE */
function decideLayout(head: FileHead, own: OwnColumns, rowFile: RowSource, job: Job): Layout {
  const { names, dropFrom, location, values, amounts } = own;
  const { lat, lng } = location;
  const { topics, prefix, input: file } = job;
  const output = addedByOutput(own, rowFile, job);
  const kept = keptColumns(rowFile.columns, dropFrom, topics, perilbookColumns(prefix));
  const read = columnsToRead(own, kept, job);
  const buildings = output.losses === 'amounts' ? buildingColumns(names, values) : [];
  const nameOf = (index: number) => names[index] || String(index + 1);
  return {
    ...output,
    ...read,
    values: values.length,
    mayBeNegative: job.orderBy.kind === 'column',
    amountCurrency: amountCurrency(job, values.map(nameOf), amounts),
    id: job.id === null ? null : columnByName(names, job.id, 'id', file),
    pair: lat === lng ? { given: job.location.order ?? null, assumed: 'lat,lng' } : null,
    hasRemarks: rowFile.hasRemarks === true || (lat === lng && hasOutlines(head, lat)),
    notes: [
      location.note,
      rowFile.note,
      output.isConverted ? rowFile.conversionNote : rowFile.ownFormatNote,
      output.losses === 'rates' ? ratesAlone(job) : null,
      ...read.codes.map(codeColumnNote),
    ].filter((words) => words != null),
    dropFrom,
    kept,
    lossValues: buildings.map((column) => FIRST_VALUE + values.indexOf(column)),
    used: {
      lat: nameOf(lat),
      lng: nameOf(lng),
      value: values.map(nameOf),
      ...(job.losses && { loss_value: buildings.map(nameOf) }),
      ...(read.codes.length > 0 && {
        codes: Object.fromEntries(read.codes.map(({ topic, name }) => [topic, name])),
      }),
    },
  };
}

/** Decides what an output adds to the columns of the user. @throws INPUT_COLUMNS, OUTPUT_UNWRITABLE */
function addedByOutput(
  { names, values }: OwnColumns,
  rowFile: RowSource,
  job: Job,
): Pick<Layout, 'added' | 'losses' | 'hasPoints' | 'isConverted'> {
  const { topics, prefix, input: file } = job;
  const geoparquet = job.geoparquet || isCalledGeoparquet(job);
  const format = formatOfOutput(job.output) ?? rowFile.format;
  if (geoparquet && format !== 'parquet') throw otherThanParquet(job.output);
  const ofLosses = values.length > 0 ? 'amounts' : 'rates';
  const losses = job.losses ? ofLosses : 'none';
  const ofTopics = addedColumns(topics, prefix, job.counts, losses);
  const point = geometryColumn(prefix);
  refuseTaken(names, geoparquet ? [...ofTopics, point] : ofTopics, file);
  // Rows of another format become features. Part files keep their format.
  const other = job.parts === null ? otherFormat(rowFile, file, job.output) : null;
  const hasPoints =
    geoparquet || (other !== null && formatNamed(other).making?.isOfFeatures === true);
  return {
    added: hasPoints ? [...ofTopics, point] : ofTopics,
    losses,
    hasPoints,
    isConverted: other !== null,
  };
}

/** Decides which columns are read, and where among them each stands. */
function columnsToRead(
  { names, dropFrom, location: { lat, lng, compass }, values }: OwnColumns,
  kept: readonly KeptColumn[],
  { topics, input: file }: Job,
): Pick<Layout, 'columns' | 'currency' | 'compass' | 'codes' | 'keptAnswers'> {
  const currency = values.length === 0 ? null : currencyColumn(names);
  const read = [lat, lng, ...values, ...(currency === null ? [] : [currency])];
  const letters = [compass?.lat, compass?.lng].filter((column) => column != null);
  const positionOf = (column: number | null | undefined) =>
    column == null ? null : read.length + letters.indexOf(column);
  const codes = codeColumns(names, topics, file).map((column, index) => ({
    ...column,
    at: read.length + letters.length + index,
  }));
  const ofEarlierRun = kept.length === 0 ? [] : LEADING_COLUMNS.map((_, at) => dropFrom! + at);
  const columns = [...read, ...letters, ...codes.map(({ column }) => column), ...ofEarlierRun];
  const withKept = [...columns, ...kept.map(({ keeps }) => keeps)];
  return {
    columns,
    currency: currency === null ? null : FIRST_VALUE + values.length,
    compass:
      compass === undefined ? null : { lat: positionOf(compass.lat), lng: positionOf(compass.lng) },
    codes,
    keptAnswers: kept.length === 0 ? null : keptAnswersAt(kept, dropFrom!, positionsIn(withKept)),
  };
}

/** Gives the positions of columns among others; null for one that is not there. An earlier run's columns stand last. */
function positionsIn(columns: readonly number[]): (column: number) => number | null {
  return (column) => {
    const at = columns.lastIndexOf(column);
    return at < 0 ? null : at;
  };
}

/** The columns of the location alone, with the compass letters after it. */
export function locationOf({
  columns,
  pair,
  compass,
}: Layout): Pick<Layout, 'columns' | 'pair' | 'compass'> {
  const own = columns.slice(0, FIRST_VALUE);
  if (compass === null) return { columns: own, pair, compass };
  const letters = [compass.lat, compass.lng].filter((position) => position !== null);
  const positionOf = (position: number | null) =>
    position === null ? null : FIRST_VALUE + letters.indexOf(position);
  return {
    columns: [...own, ...letters.map((position) => columns[position]!)],
    pair,
    compass: { lat: positionOf(compass.lat), lng: positionOf(compass.lng) },
  };
}

/** Whether a column of places has outlines, of which a point inside each is looked up. */
function hasOutlines({ rows }: FileHead, column: number): boolean {
  return rows.some(({ fields }) => {
    const place = placeInValue(fields[column] ?? '', null);
    return typeof place === 'object' && place?.isInside === true;
  });
}

/** Whether the output's name asks for points. A file that is called so itself keeps its own geometry. */
function isCalledGeoparquet({ input, output }: Pick<Job, 'input' | 'output'>): boolean {
  const isCalled = (name: string) => /\.geoparquet$/i.test(name);
  return isCalled(output) && !isCalled(input);
}

/** Only Parquet has a standard form for points. */
function otherThanParquet(output: string): PerilbookError {
  const message = `GeoParquet needs a Parquet output, not ${output === '-' ? 'standard output' : output}`;
  const hint = 'Name the output .parquet, or leave out --geoparquet (geoparquet: in the job file).';
  return new PerilbookError('OUTPUT_UNWRITABLE', message, hint, { file: output });
}

/** @throws INPUT_COLUMNS where the input has a column of the same name as one that is added */
function refuseTaken(names: readonly string[], added: readonly AddedColumn[], file: string): void {
  const taken = new Set(names.map((name) => name.toLowerCase()));
  const clash = added.find(({ name }) => taken.has(name.toLowerCase()));
  if (clash === undefined) return;
  const message = `The input already has a column ${clash.name}`;
  const hint = 'Rename that column. Or give the new columns a prefix: --prefix.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file, column: clash.name });
}

function keptColumns(
  names: readonly string[],
  dropFrom: number | null,
  topics: readonly TopicSlug[],
  ownColumns: ReadonlyMap<string, PerilbookColumn>,
): KeptColumn[] {
  const earlier = dropFrom === null ? [] : names.slice(dropFrom);
  return earlier.flatMap((name, at): KeptColumn[] => {
    const { type, topic } = ownColumns.get(name)!;
    return topic === null || topics.includes(topic)
      ? []
      : [{ name, type, topic, keeps: dropFrom! + at }];
  });
}
