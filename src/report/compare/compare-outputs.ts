import { isDecimalNumber } from '../../base/decimal-number.ts';
import { PerilbookError } from '../../base/errors.ts';
import { saysUnstudied } from '../../columns/row-status.ts';
import { wantedColumns } from '../../columns/topic-columns.ts';
import { rowCodesOf } from '../../contract/topics.ts';
import { rateOfPlace } from '../../formats/packed/place-losses.ts';
import { type Cell, locationOf } from '../../geo/coordinates.ts';
import type { Job } from '../../job/settings.ts';
import { isPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { Row, RowFile, RowSource } from '../../rows/port.ts';
import type { Prepared } from '../../run/prepare.ts';
import { currencyColumn, parseCurrency } from '../../run/scan/currency.ts';
import type { Layout } from '../../run/scan/layout.ts';
import { locate, rowValue, valueIfAny } from '../../run/scan/read-row.ts';
import { openJobInput, scanRows } from '../../run/scan/scan-input.ts';
import { FIRST_VALUE, wholeUnits } from '../../run/scan/value.ts';
import { enrichedCells } from '../../run/write/enriched-cells.ts';
import {
  type CellClasses,
  makeCellClasses,
  type RatedTopic,
  ratedTopics,
} from '../figures/cell-classes.ts';
import { labelColumns } from '../figures/named-rows.ts';
import { CLASS_LETTERS, unansweredClass } from '../figures/scales.ts';
import { sumCurrencies } from '../figures/sums.ts';
import { type ComparedRow, type Comparison, matchRows } from './match-rows.ts';

/** An earlier output: a file, or part files. */
export type EarlierOutput = Pick<Job, 'input' | 'parts'> & { readonly name: string };

/** Compares a job's present output with an earlier output of Perilbook. Rows are matched by a common id column, else by
 * place and order. Spends nothing.
 * @throws INPUT_* where the file cannot be read or Perilbook did not write it */
export async function compareWithOutput(
  { name, input: file, parts }: EarlierOutput,
  prepared: Prepared,
  complete: CellClasses,
): Promise<Comparison> {
  const { job, plan, effects } = prepared;
  const input = plan.scan.rowFile;
  const { header } = job.reading;
  const reading = header === undefined ? {} : { header };
  const opened = await openJobInput({ input: file, parts, reading }, effects.streams);
  const output = (!isPartFiles(opened) && (await opened.entire?.())) || opened;
  // An earlier file need not have the columns of codes: its answers are in it.
  const codeless = job.topics.filter((topic) => rowCodesOf(topic) === null);
  const earlierJob = { ...job, input: file, parts, topics: codeless };
  const layout = await scannedLayout(output, earlierJob);
  if (layout.dropFrom === null) {
    const message = `${name} is not an output of Perilbook: it has no hazard columns at its end`;
    const hint = 'Name the output of an earlier run, written with the same prefix.';
    throw new PerilbookError('INPUT_COLUMNS', message, hint, { file });
  }
  const perils = ratedTopics(job).filter(({ isPeril }) => isPeril);
  const columnOf = (name: string) => output.columns.indexOf(`${job.prefix}${name}`);
  /** Those that decide on its class. */
  const columnsOfPeril = ({ slug, scale }: RatedTopic) =>
    wantedColumns(slug, false)
      .slice(0, scale.fields)
      .map(({ name }) => columnOf(name));
  const topics = perils.filter((peril) => columnsOfPeril(peril).every((column) => column >= 0));
  const noteColumn = columnOf('hazard_note');
  const rateColumn = columnOf('annual_loss_rate');
  const losses = rateColumn < 0 ? null : await plan.fields.losses(prepared);
  const hasLosses = losses?.hasAmounts === true;
  const [idThen, idNow] = [readId(output, layout), readId(input, plan.scan.layout)];
  const nameOf = ({ columns }: RowSource, id: number) => columns[id]!.toLowerCase();
  const isById =
    idThen !== null && idNow !== null && nameOf(output, idThen) === nameOf(input, idNow);
  const { shown } = sumCurrencies(job, plan.scan);
  const { decimals } = plan.scan.cells;

  async function* earlierRows() {
    const ofPerils = topics.map(columnsOfPeril);
    const currency = currencyColumn(output.columns);
    const extra = [
      isById ? idThen : layout.columns[0]!,
      currency ?? layout.columns[0]!,
      noteColumn < 0 ? layout.columns[0]! : noteColumn,
      ...ofPerils.flat(),
      hasLosses ? rateColumn : layout.columns[0]!,
    ];
    const from = layout.columns.length;
    let next = from + 3;
    const perilsFrom = ofPerils.map(({ length }) => {
      next += length;
      return next - length;
    });
    for await (const batch of output.read([...layout.columns, ...extra], FIRST_VALUE)) {
      yield batch.map((row): ComparedRow => {
        const located = locate(row, earlierJob, layout);
        const place = located.ok ? placeOf(located.cell) : '';
        const fields = row.fields.map((text) => text || null);
        const note = noteColumn < 0 ? null : fields[from + 2];
        const classes = topics.map(({ slug, scale }, index) =>
          scale.classOf(fields, perilsFrom[index]!, saysUnstudied(slug, note)),
        );
        const rate = hasLosses ? (row.fields.at(-1) ?? '') : '';
        return {
          ...comparedRow(row, layout, place, currency !== null),
          classes: lettersOf(classes),
          // A rate has no groups of digits: a comma is a decimal one.
          rate: parseRate(rate),
        };
      });
    }
  }

  /** A row with the fields of its layout, then its id and its currency. */
  function comparedRow(
    row: Row,
    layout: Layout,
    place: string,
    hasCurrency: boolean,
  ): Omit<ComparedRow, 'classes' | 'rate'> {
    const from = layout.columns.length;
    const code = hasCurrency ? parseCurrency(row.fields[from + 1]) : shown;
    const value = valueIfAny(row, layout);
    const lossValue = hasLosses ? rowValue(row, layout).lossValue : Number.NaN;
    return {
      key: keyOf(row, isById ? row.fields[from] : undefined, place),
      line: row.line,
      part: row.part ?? null,
      place,
      value: value === null ? null : wholeUnits(value, decimals),
      otherCurrency: code === shown ? null : code,
      lossValue: Number.isNaN(lossValue) ? null : wholeUnits(lossValue, decimals),
    };
  }

  async function* currentRows() {
    const { layout: own, cells, groups } = plan.scan;
    const letters = await lettersOfGroups(prepared, complete, topics);
    const unanswered = lettersOf(topics.map(({ scale }) => unansweredClass(scale)));
    const groupsOf = groups.groupsFrom();
    const currency = currencyColumn(input.columns);
    const extra = [isById ? idNow : own.columns[0]!, currency ?? own.columns[0]!];
    for await (const batch of input.read([...own.columns, ...extra], FIRST_VALUE)) {
      const numbers = groupsOf(batch.length);
      yield batch.map((row, index): ComparedRow => {
        const group = numbers[index]!;
        const cell = group < groups.size ? groups.cellOf(group) : null;
        const place = cell === null ? '' : placeOf(cells.cell(cell));
        const classes = cell === null ? unanswered : letters(group);
        const rate = hasLosses && cell !== null ? rateOfPlace(losses, cell) : null;
        return { ...comparedRow(row, own, place, currency !== null), classes, rate };
      });
    }
  }

  return {
    earlier: name,
    currency: shown,
    matchedBy: isById ? input.columns[idNow]! : 'place',
    ...(await matchRows(earlierRows(), currentRows(), topics, decimals, hasLosses)),
    notCompared: perils.filter((peril) => !topics.includes(peril)).map(({ slug }) => slug),
  };
}

/** The layout as all rows of a file decide it. */
async function scannedLayout(rowFile: RowFile | PartFiles, job: Job): Promise<Layout> {
  using scanned = await scanRows(rowFile, job);
  return scanned.layout;
}

function readId({ columns }: RowSource, { dropFrom, id }: Layout): number | null {
  return labelColumns(dropFrom === null ? columns : columns.slice(0, dropFrom), id).id;
}

/** A loss rate; null for none. It has no groups of digits: a comma is a decimal one. */
function parseRate(text: string): number | null {
  const plain = text.replace(',', '.');
  return isDecimalNumber(plain) ? Number(plain) : null;
}

/** In degrees, as the name of a row without an id. */
function placeOf(cell: Cell): string {
  const { lat, lng } = locationOf(cell);
  return `${lat}, ${lng}`;
}

/** Its id; without one, its place; without both, the texts of its location columns. */
function keyOf(row: Row, id: string | undefined, place: string): string {
  const text = id?.trim() ?? '';
  if (text !== '') return text;
  return place === ''
    ? `no location: ${row.fields[0] ?? ''}, ${row.fields[1] ?? ''}`
    : `place: ${place}`;
}

/** The classes of each group of rows in the present output: one byte per topic and group. */
async function lettersOfGroups(
  prepared: Prepared,
  complete: CellClasses,
  topics: readonly RatedTopic[],
) {
  const { job, plan } = prepared;
  const read = makeCellClasses(ratedTopics(job), plan.scan.groups.size);
  for await (const batch of enrichedCells(prepared, (group) => complete.has(group))) {
    for (const { group, fields } of batch) read.put(group, fields);
  }
  return (group: number) => {
    const classes = complete.has(group) ? complete : read;
    return lettersOf(topics.map(({ slug }) => classes.classOf(group, job.topics.indexOf(slug))));
  };
}

const lettersOf = (classes: readonly number[]) => classes.map((of) => CLASS_LETTERS[of]).join('');
