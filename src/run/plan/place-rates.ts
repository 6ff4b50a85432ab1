import { lossTopics } from '../../columns/loss-columns.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { LOSS_FIELDS, LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { EMPTY_SET, makeNumberSets, NO_SET, takenSets } from '../../formats/packed/number-sets.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import { makePlaceTable } from '../../formats/packed/place-table.ts';
import type { NumberedAnswer } from '../../store/answers/port.ts';
import { changedSince } from '../frame/local-data.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Scan } from '../scan/scan-input.ts';

/** A natural topic without events: its data is what rates depend on. */
const TOPIC_OF_RATES = 'avalanche';

/** The loss rates of the places of a run, as the store has them. They are read with the answers of the source that has both, else on their
 * own. */
export class PlaceRates {
  /** The number of the source in the store; null where nothing is known: there is no index with rates. */
  readonly source: number | null;
  /** What a reading of this source reads beside its answers. */
  readonly numbered: NumberedAnswer;
  readonly #context: RunContext;
  readonly #scan: Scan;
  /** The places that are still to be read; null: all. */
  #unread: readonly number[] | null = null;

  constructor(context: RunContext, scan: Scan) {
    const { job, losses } = context;
    this.#context = context;
    this.#scan = scan;
    // After how many rates there are.
    const fields = lossTopics(job.topics).map((topic) => 1 + NATURAL_SLUGS.indexOf(topic));
    const data = losses?.data.hasLossRates ? losses.data : null;
    this.source = data && losses!.source;
    const freshSince = data && changedSince(data, TOPIC_OF_RATES, data.asOf);
    const count = data === null ? 0 : scan.cells.size;
    this.numbered = {
      answer: { topic: LOSS_RATES, freshSince: freshSince ?? 0, fields: LOSS_FIELDS },
      numberOf: new Uint32Array(new SharedArrayBuffer(4 * count)),
      sets: makeNumberSets(fields, count),
    };
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
      if (numberOf[place] === NO_SET) lacking.push(place);
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
    const { numberOf: of, sets } = this.numbered;
    const count = cells.size + places.unlocated.length;
    const numberOf = new Uint32Array(new SharedArrayBuffer(4 * count));
    // Places outside of all areas of the index have no rate of any hazard.
    for (let place = 0; place < of.length; place++)
      numberOf[place] = of[place] === EMPTY_SET ? NO_SET : of[place]!;
    const hasAmounts = layout.losses === 'amounts';
    return { topics: sets.fields.length, rates: takenSets(sets), numberOf, hasAmounts };
  }

  /** Reads the rates of places that were read with no answers. */
  async #readRest(): Promise<void> {
    const { source, numbered } = this;
    const { store } = this.#context;
    const { cells, inThreads } = this.#scan;
    const unread = this.#unread?.filter((place) => numbered.numberOf[place] === NO_SET) ?? null;
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
    for await (const _ of store.readPlaces(reading, inThreads?.pool ?? null));
  }
}
