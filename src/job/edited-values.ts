import { addedColumns } from '../columns/row.ts';
import { ROW_STATUSES } from '../columns/row-status.ts';
import type { CellRecord, Field } from '../contract/answer.ts';
import { TOPIC_SLUGS } from '../contract/topics.ts';
import type { Row, RowSource } from '../rows/port.ts';
import { type CellSource, cellReader } from './cell-fields.ts';
import { FIRST_VALUE } from './scan/layout.ts';
import { locate } from './scan/locate.ts';
import type { Finding } from './scan/scan-input.ts';

/** Size of the cache of cells: rows of one place are often neighbours. */
const CELLS_REMEMBERED = 20_000;

/** What the store has for a cell: its fields, and the times of its answers. */
interface StoredCell {
  readonly fields: readonly Field[];
  readonly times: ReadonlySet<number>;
}

/**
 * Counts the rows in which a value that an earlier run wrote is not the stored one, and is about to be written anew. Only
 * rows whose time is that of an answer in the store can be told: an output of several runs has the oldest time of the last
 * run's topics. Which answer the others were written from is not known: one of them may have been renewed since.
 */
export async function editedValues(rowFile: RowSource, source: CellSource): Promise<Finding | null> {
  const { job, scan } = source;
  const { layout } = scan;
  const names = rowFile.columns;
  const refreshed = layout.refreshed.filter(({ name }) => !/hazard_(?:note|as_of)$/.test(name));
  const asOf = layout.refreshed.find(({ name }) => name === `${job.prefix}hazard_as_of`);
  if (refreshed.length < 2 || asOf === undefined) return null;
  const inFile = new Set(names.slice(layout.dropFrom!));
  const hasTopic = (topic: (typeof TOPIC_SLUGS)[number]) =>
    addedColumns([topic], job.prefix, job.counts)
      .slice(3)
      .some(({ name }) => inFile.has(name));
  const topics = TOPIC_SLUGS.filter(hasTopic);
  const places = new Map(addedColumns(topics, job.prefix, job.counts).map(({ name }, at) => [name, at]));
  const compared = refreshed.map(({ name, topic }) => ({ topic, at: places.get(name)! }));
  let times: ReadonlySet<number> = new Set();
  const remember = (_: number, { answers }: CellRecord) => {
    times = new Set(topics.flatMap((topic) => answers.get(topic)?.asOf ?? []));
  };
  const readCells = await cellReader({ ...source, job: { ...job, topics, tiers: [] } }, remember, true);
  const readCell = rememberingCells(async (cell) => {
    const [fields] = await readCells([cell]);
    return { fields: fields!(), times };
  });
  let rows = 0;
  let first: Row | null = null;
  const read = [...layout.columns, asOf.index, ...refreshed.map(({ index }) => index)];
  for await (const batch of rowFile.read(read, FIRST_VALUE)) {
    for (const row of batch) {
      const place = locate(row, job, layout);
      const cell = place.ok ? scan.cells.numberOf(place.cell) : -1;
      if (cell < 0) continue;
      const [time = '', ...texts] = row.fields.slice(layout.columns.length);
      const stored = await readCell(cell);
      if (!stored.times.has(Date.parse(time))) continue;
      const isEdited = compared.some(({ topic, at }, i) =>
        topic === null ? !isStatus(texts[i]!) : !isSame(texts[i]!, stored.fields[at] ?? null),
      );
      if (isEdited && rows++ === 0) first = row;
    }
  }
  if (first === null) return null;
  const { line, part } = first;
  return { finding: 'edited_value', note: NOTE, rows, firstLine: line, ...(part === undefined ? {} : { part }) };
}

const NOTE = 'A value that an earlier run wrote was edited, or its answer was renewed since: it is written anew.';

function rememberingCells(read: (cell: number) => Promise<StoredCell>) {
  let known = new Map<number, StoredCell>();
  return async (cell: number): Promise<StoredCell> => {
    const found = known.get(cell);
    if (found) return found;
    if (known.size === CELLS_REMEMBERED) known = new Map();
    const stored = await read(cell);
    known.set(cell, stored);
    return stored;
  };
}

const isStatus = (text: string) => ROW_STATUSES.some((status) => status === text);

/** A text that would run as a formula has an apostrophe before it in a CSV file. */
function isSame(text: string, field: Field): boolean {
  if (field === null || field === '') return text === '';
  if (typeof field === 'number') return text !== '' && Number(text) === field;
  return text === field || text === `'${field}` || (Date.parse(text) === Date.parse(field) && /^\d{4}-/.test(field));
}
