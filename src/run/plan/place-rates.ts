import { lossTopics } from '../../columns/loss-columns.ts';
import type { Field } from '../../contract/answer.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { LOSS_FIELDS, LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { ByteNumbers } from '../../formats/packed/byte-numbers.ts';
import { FieldPacker, skipFields } from '../../formats/packed/packed-fields.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { makePlaceTable } from '../../formats/packed/place-table.ts';
import type { NumberedAnswer, PlacesRead } from '../../store/answers/port.ts';
import { changedSince } from '../frame/local-data.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Scan } from '../scan/scan-input.ts';

/** A natural topic without events: its data is what rates depend on. */
const TOPIC_OF_RATES = 'avalanche';

/** Of the places outside of all areas of the index, which have no rate of any hazard. */
const NO_RATES = 0;

/** The loss rates of the places of a run, as the store has them. They are read with the answers of the source that has both, else on their
 * own. */
export class PlaceRates {
  /** The number of the source in the store; null where nothing is known: there is no index with rates. */
  readonly source: number | null;
  /** What a reading of this source reads beside its answers. */
  readonly numbered: NumberedAnswer;
  readonly #context: RunContext;
  readonly #scan: Scan;
  /** By the number that a reader gave: that of the same rates, whoever read them. */
  readonly #numbers: number[] = [];
  /** All rates, by their bytes, and the number of each. Number 0 is for places whose rates are unknown, or that have none. */
  readonly #known = new ByteNumbers();
  readonly #numbersOfKnown: number[] = [];
  /** The rates of the job's natural topics by number; NaN where the index has none. */
  readonly #rates: number[];
  /** The indexes of the job's natural topics. */
  readonly #topics: readonly number[];
  /** The places that are still to be read; null: all. */
  #unread: readonly number[] | null = null;

  constructor(context: RunContext, scan: Scan) {
    const { job, losses } = context;
    this.#context = context;
    this.#scan = scan;
    this.#topics = lossTopics(job.topics).map((topic) => NATURAL_SLUGS.indexOf(topic));
    this.#rates = this.#topics.map(() => Number.NaN);
    const data = losses?.data.hasLossRates ? losses.data : null;
    this.source = data && losses!.source;
    const freshSince = data && changedSince(data, TOPIC_OF_RATES, data.asOf);
    const count = data === null ? 0 : scan.cells.size;
    this.numbered = {
      answer: { topic: LOSS_RATES, freshSince: freshSince ?? 0, fields: LOSS_FIELDS },
      numberOf: new Uint32Array(new SharedArrayBuffer(4 * count)),
      taken: new Int32Array(new SharedArrayBuffer(4)),
    };
  }

  /** Takes what a reading gave. */
  take({ numbered: { numbers, fields } }: Pick<PlacesRead, 'numbered'>): void {
    const bytes = Buffer.from(fields.buffer, fields.byteOffset, fields.length);
    let from = 0;
    for (const number of numbers) {
      const to = skipFields(bytes, from, LOSS_FIELDS);
      const own = this.#known.numberOf(bytes, from, to);
      if (own === this.#numbersOfKnown.length)
        this.#numbersOfKnown.push(this.#addRates(NUMBERS.unpack(bytes, from, LOSS_FIELDS)));
      this.#numbers[number] = this.#numbersOfKnown[own]!;
      from = to;
    }
  }

  /** Adds rates. @returns their number */
  #addRates([count, ...rates]: readonly Field[]): number {
    if (count === 0) return NO_RATES;
    const number = this.#rates.length / Math.max(1, this.#topics.length);
    for (const topic of this.#topics) {
      const rate = rates[topic];
      this.#rates.push(typeof rate === 'number' ? rate : Number.NaN);
    }
    return number;
  }

  /** All places were read with their answers. */
  wereRead(): void {
    this.#unread = [];
  }

  /** The places of which the store has no rates, by number. */
  async lacking(): Promise<number[]> {
    await this.#readRest();
    const { numberOf } = this.numbered;
    const lacking: number[] = [];
    for (let place = 0; place < numberOf.length; place++)
      if (numberOf[place] === 0) lacking.push(place);
    return lacking;
  }

  /** The rates of these places may have come into the store: they are read again. */
  mayHave(places: readonly number[]): void {
    this.#unread = places;
  }

  /** The rates of all places, for writers. */
  async losses(): Promise<PlaceLosses> {
    await this.#readRest();
    const { cells, places, layout } = this.#scan;
    const of = this.numbered.numberOf;
    const count = cells.size + places.unlocated.length;
    const numberOf = new Uint32Array(new SharedArrayBuffer(4 * count));
    for (let place = 0; place < of.length; place++)
      numberOf[place] = this.#numbers[of[place]!] ?? 0;
    const rates = new Float64Array(new SharedArrayBuffer(8 * this.#rates.length));
    rates.set(this.#rates);
    const hasAmounts = layout.losses === 'amounts';
    return { topics: this.#topics.length, rates, numberOf, hasAmounts };
  }

  /** Reads the rates of places that were read with no answers. */
  async #readRest(): Promise<void> {
    const { source, numbered } = this;
    const { store } = this.#context;
    const { cells, inThreads } = this.#scan;
    const unread = this.#unread?.filter((place) => numbered.numberOf[place] === 0) ?? null;
    this.#unread = [];
    const count = unread?.length ?? cells.size;
    if (source === null || count === 0) return;
    const asked = new Uint8Array(new SharedArrayBuffer(cells.size));
    for (const place of unread ?? []) asked[place] = 1;
    const reading = {
      ...{ source, wanted: [], rated: [], cells: cells.shared, count, numbered },
      again: unread && { asked, numbers: Int32Array.from(unread) },
      table: makePlaceTable(cells.size, 0, null),
      times: new Float64Array(new SharedArrayBuffer(8 * cells.size)),
      moments: [],
      dropsReplaced: false,
    };
    for await (const read of store.readPlaces(reading, inThreads?.pool ?? null)) this.take(read);
  }
}

/** Rates are numbers, and have no texts. */
const NUMBERS = new FieldPacker({ numberOf: () => -1, textOf: () => '' });
