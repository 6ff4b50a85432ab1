import {
  type Answer,
  type CellRecord,
  EMPTY_RECORD,
  type Field,
  isReplaced,
  type TopicFailure,
} from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import {
  type OutputPlaces,
  type PackedFields,
  placeUnpacker,
} from '../../formats/packed/output-places.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { contextOf, type RunContext, type RunSource } from '../frame/run-context.ts';
import type { Scan } from '../scan/scan-input.ts';
import { PlaceRates } from './place-rates.ts';
import { type KnownForm, NOTHING, PLAIN, SourceFields } from './source-fields.ts';

/** The fields that a job adds to its places, those of each source after those of the one before. */
export class PlaceFields {
  /** In the order of the run's sources. */
  readonly parts: readonly SourceFields[];
  /** Null for a job without losses. */
  readonly rates: PlaceRates | null;
  readonly #context: RunContext;
  readonly #size: number;
  /** The forms of places by those of their parts; from `PLAIN` on. One source needs none. */
  readonly #joined: (KnownForm | null)[] = [null];
  readonly #numbers = new Map<string, number>();
  readonly #times: Float64Array<SharedArrayBuffer> | null;

  /** @param fieldsOf how many fields of each topic's answers are kept; left out: those of the output */
  constructor(context: RunContext, scan: Scan, fieldsOf?: (topic: TopicSlug) => number) {
    this.#context = context;
    this.#size = scan.cells.size;
    const rates = context.job.losses ? new PlaceRates(context, scan) : null;
    this.rates = rates;
    this.parts = context.sources.map(
      (source) => new SourceFields(contextOf(context, source), scan, rates, fieldsOf),
    );
    const { length } = this.parts[0]!.times;
    this.#times =
      this.parts.length === 1 ? null : new Float64Array(new SharedArrayBuffer(8 * length));
  }

  /** Whether these are the fields of an output. */
  get isOutput(): boolean {
    return this.parts.every(({ isOutput }) => isOutput);
  }

  /** The packed fields, for writers. */
  get tables(): readonly PackedFields[] {
    return this.parts.map(({ packed }) => packed);
  }

  /** When the oldest answer of each place was given; NaN without one. */
  get times(): Float64Array<SharedArrayBuffer> {
    return this.#times ?? this.parts[0]!.times;
  }

  /** `NOTHING`, `PLAIN`, or the number of its form. */
  formOf(place: number): number {
    if (this.parts.length === 1) return this.parts[0]!.formOf(place);
    const forms = this.parts.map((part) => part.formOf(place));
    if (forms.every((form) => form === NOTHING)) return NOTHING;
    if (forms.every((form) => form === PLAIN)) return PLAIN;
    const key = forms.join();
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#joined.push(this.#joinForms(forms)) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** The forms by number; null for `PLAIN`. Those of two sources are known once a place has them. */
  get forms(): readonly (KnownForm | null)[] {
    return this.parts.length === 1 ? this.parts[0]!.forms : this.#joined;
  }

  /** What stands for the places of a form. */
  recordOf(form: number): CellRecord {
    if (form === NOTHING) return EMPTY_RECORD;
    const known = form === PLAIN ? this.#joinForms(this.parts.map(() => PLAIN)) : this.forms[form]!;
    return known.record;
  }

  /** Whether the store has all answers of a place. */
  isComplete(place: number): boolean {
    return this.parts.every((part) => part.isComplete(place));
  }

  /** Reads what the store has of all places. */
  async readAll(): Promise<void> {
    for (const part of this.parts) await part.readAll();
    this.#joinTimes();
  }

  /** Reads what the store has now of some places, in place of what it had. Of places that are complete or were looked up the fields stay. */
  async readAgain(places: readonly number[]): Promise<void> {
    for (const part of this.parts) await part.readAgain(places);
    this.#joinTimes();
  }

  /** The same of all places. */
  async readLacking(): Promise<void> {
    for (const part of this.parts) await part.readAgain();
    this.#joinTimes();
  }

  /** The loss rates that may be shown; null for a job without losses. Real ones never stand beside made-up answers. */
  async losses({
    connection,
    sampleRows,
  }: Pick<RunContext, 'connection' | 'sampleRows'>): Promise<PlaceLosses | null> {
    const losses = (await this.rates?.losses()) ?? null;
    if (losses === null || connection.kind === 'local' || connection.sample) return losses;
    for (const time of this.times) sampleRows.has(time);
    if (sampleRows.any) losses.numberOf.fill(0);
    return losses;
  }

  /** Shows no answers of the sources beside the first one. */
  leaveOutBeside(): void {
    for (const part of this.parts.slice(1)) part.leaveOut();
    this.#joinTimes();
  }

  /** Replaces the fields of a place. */
  put(place: number, fields: readonly Field[], oldest: number): void {
    let from = 0;
    for (const part of this.parts) {
      part.put(place, fields.slice(from, from + part.width), oldest);
      from += part.width;
    }
    if (this.#times !== null) this.#times[place] = oldest;
  }

  /** Makes the fields of places that have none empty, and all that were put readable. */
  fillEmpty(places: ArrayLike<number>): void {
    for (const part of this.parts) part.fillEmpty(places);
  }

  /** Makes a function that unpacks the fields of a place that was read. */
  async unpacker(): Promise<(place: number) => Field[]> {
    for (const part of this.parts) part.flush();
    const { tables } = this;
    const kindOf = new Uint32Array(new SharedArrayBuffer(4 * this.times.length));
    const none = { tables, kinds: [[]], kindOf, times: null, losses: null, empty: 0 };
    return placeUnpacker({ ...none, ...(await this.#context.store.texts()) } as OutputPlaces);
  }

  #joinForms(forms: readonly number[]): KnownForm {
    const { sources } = this.#context;
    const known = forms.map((form, index) => {
      if (form === NOTHING) return { isComplete: false, record: EMPTY_RECORD };
      const of = this.parts[index]!.forms[form] ?? null;
      return of ?? { isComplete: true, record: plainRecord(sources[index]!, this.parts[index]!) };
    });
    return {
      isComplete: known.every(({ isComplete }) => isComplete),
      record: joinRecords(
        sources,
        known.map(({ record }) => record),
      ),
    };
  }

  #joinTimes(): void {
    if (this.#times === null) return;
    for (let place = 0; place < this.#size; place++) {
      let oldest = Number.NaN;
      for (const { times } of this.parts) {
        const time = times[place]!;
        if (time < oldest || Number.isNaN(oldest)) oldest = time;
      }
      this.#times[place] = oldest;
    }
  }
}

/** What stands for a place that has all answers of a source, of which there is nothing to say. */
function plainRecord({ freshness }: RunSource, { wanted }: SourceFields): CellRecord {
  const answers = wanted.map(({ topic, fields }): readonly [TopicSlug, Answer] => [
    topic,
    { topic, asOf: freshness.startedAt, fields: plainFields(fields) },
  ]);
  return { answers: new Map(answers), failures: new Map() };
}

/** Fields of an answer of which a note says nothing. */
export const plainFields = (width: number): Field[] =>
  width === 0 ? [] : ['', ...new Array<null>(width - 1).fill(null)];

/** What the sources of a run have of one place, each for its own topics. That the data beside a service does not hold a place is no word of
 * the service on it.
 * @param records in the order of the sources */
export function joinRecords(
  sources: readonly RunSource[],
  records: readonly (CellRecord | null)[],
): CellRecord {
  const answers = new Map<TopicSlug, Answer>();
  const failures = new Map<TopicSlug, TopicFailure>();
  for (const [index, { job }] of sources.entries()) {
    const record = records[index] ?? EMPTY_RECORD;
    for (const topic of job.topics) {
      const [answer, failure] = [record.answers.get(topic), record.failures.get(topic)];
      const isGone = index > 0 && isReplaced(answer?.asOf ?? 0, failure?.at);
      if (answer !== undefined && !isGone) answers.set(topic, answer);
      if (failure !== undefined)
        failures.set(topic, index === 0 ? failure : { ...failure, reason: 'unavailable' });
    }
  }
  return { answers, failures };
}
