import { answerFields, columnsOf } from '../../columns/topic-columns.ts';
import { type Answer, type Field, noDataAnswer } from '../../contract/answer.ts';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import { topicOf } from '../../contract/topics.ts';
import {
  createHeldVersion,
  openDataReadOnly,
  readingData,
  requireVersion,
} from '../../data/tables/data-database.ts';
import { createCodeValues } from '../../data/zones/area-values.ts';
import { answersCodes, type LocalData } from '../frame/local-data.ts';
import type { RunContext } from '../frame/run-context.ts';
import { type CodeColumn, codeOfNumber, UNREADABLE_CODE } from '../scan/row-codes.ts';
import type { Scan } from '../scan/scan-input.ts';

/** What a layer says of the codes in the rows. */
export interface CodeAnswers extends CodeColumn {
  /** The index of the source whose data this is. */
  readonly source: number;
  /** By the number of a code (`codeNumber`); without those that are no codes. */
  readonly answers: ReadonlyMap<number, Answer>;
}

/** Looks up the codes of the rows in the public data on this machine, in the order of the layout's columns: null for a layer that is not
 * loaded. They cost nothing, and are read in each run. @throws LOCAL_DATA where the data was replaced since the run began */
export function readCodeAnswers(
  { sources }: RunContext,
  { layout, coded }: Pick<Scan, 'layout' | 'coded'>,
): readonly (CodeAnswers | null)[] {
  if (coded === null) return [];
  return layout.codes.map(({ at: _, ...column }, index) => {
    const source = sources.findIndex(({ job }) => job.topics.includes(column.topic));
    // The scan may be one for other topics.
    if (source < 0) return null;
    const { connection, freshness } = sources[source]!;
    if (connection.kind !== 'local' || !answersCodes(connection.data, column.topic)) return null;
    const numbers = new Set(coded.codes.map((codes) => codes[index]!));
    // Where boundaries are missing, no stored answer of the layer counts.
    const asOf = Math.max(freshness.startedAt, freshness.freshSince(column.topic));
    const { data } = connection;
    const answers = readingData(data.file, () =>
      readAnswers(data, column, [...numbers].filter(isCode), asOf),
    );
    return { ...column, source, answers };
  });
}

const isCode = (number: number): boolean => !Number.isNaN(number) && number !== UNREADABLE_CODE;

function readAnswers(
  { file, version: planned }: LocalData,
  { topic, level }: CodeColumn,
  numbers: readonly number[],
  asOf: number,
): Map<number, Answer> {
  using database = openDataReadOnly(file);
  const version = createHeldVersion(database);
  return database.transaction(() => {
    version.read();
    requireVersion(file, version.held(), planned);
    const ofCode = createCodeValues(database, version.held, topicOf(topic).layer as PolygonLayer);
    const none = noDataAnswer(topic, asOf, columnsOf(topic).length);
    return new Map(
      numbers.map((number) => {
        const value = ofCode(codeOfNumber(number, level));
        const fields: Field[] | null = value && answerFields(topic, { ...NO_COUNTS, value });
        return [number, fields === null ? none : { topic, asOf, fields }];
      }),
    );
  })();
}

const NO_COUNTS = { counts: [], nearestMeters: null };
