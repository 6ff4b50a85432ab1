import { SAMPLE_NOTE } from '../../columns/row.ts';
import type { Field } from '../../contract/answer.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { County } from '../../geo/us-counties.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { drawnPoint, type Frame, project } from '../map/frame.ts';
import { type Binning, binningsOf, MapBins, type MapFigures } from '../map/map-bins.ts';
import { type CellClasses, type RatedTopic, ratedTopics } from './cell-classes.ts';
import { Concentration } from './concentration.ts';
import type { Facts, Missing } from './facts.ts';
import { type CellAtRisk, PlaceLists } from './place-lists.ts';
import { HIGHEST, type Units, unansweredClass } from './scales.ts';
import { sumMaker } from './sums.ts';

export interface TallyOf {
  readonly topics: readonly TopicSlug[];
  /** Whether the columns that count records are among the fields. */
  readonly counts: boolean;
  readonly units: Units;
  readonly cells: number;
  readonly frame: Frame;
  /** The decimals of the value units (`CellTable`); null if the input has no values. */
  readonly decimals: number | null;
}

/** The results of a count: facts, the map, and the places to name. */
export interface Tallied {
  readonly figures: Pick<
    Facts,
    'places' | 'all' | 'complete' | 'highest' | 'topics' | 'counties' | 'states' | 'oldest' | 'newest'
  >;
  readonly map: MapFigures;
  readonly atRisk: readonly CellAtRisk[];
  readonly status: Readonly<Record<string, number>>;
  readonly reasons: Missing['reasons'];
}

/** Notes contain topics and reasons, so their number is unbounded. Further ones are counted together. */
const NOTES_KEPT = 100;

/** Dropped from notes, because the head of the page states that it is sample data. */
const SAMPLE_PREFIX = new RegExp(`^${SAMPLE_NOTE}(; |$)`);

/** Computes the figures, cell by cell. Its memory grows with the map and the country, not with the input. */
export class Tally {
  readonly #topics: readonly RatedTopic[];
  readonly #natural: readonly RatedTopic[];
  readonly #frame: Frame;
  /** From coarse to fine. */
  readonly #binnings: readonly Binning[];
  readonly #bins: MapBins;
  readonly #concentration: Concentration;
  readonly #lists: PlaceLists;
  readonly #decimals: number | null;
  readonly #notes = new Map<string, number>();
  readonly #status = new Map<string, number>();
  /** The added cell's highest rating, then its rating for each topic. */
  readonly #classes: Uint8Array;
  /** Of the cells that have an answer to each topic. */
  readonly #complete = { rows: 0, value: 0 };
  #notDrawn = 0;
  /** Rows of the cells whose fields were counted. */
  #counted = 0;
  readonly #cells: number;
  #oldest: string | null = null;
  #newest: string | null = null;

  constructor({ topics, counts, units, cells, frame, decimals }: TallyOf) {
    this.#decimals = decimals;
    this.#cells = cells;
    this.#topics = ratedTopics({ topics, counts, units });
    this.#frame = frame;
    const scales = [HIGHEST, ...this.#topics.map(({ scale }) => scale)];
    this.#binnings = binningsOf(cells);
    this.#bins = new MapBins(this.#binnings.at(-1)!, scales);
    this.#natural = this.#topics.filter(({ natural }) => natural);
    this.#concentration = new Concentration(scales.length);
    this.#lists = new PlaceLists(this.#natural);
    this.#classes = new Uint8Array(scales.length);
  }

  /** Adds a cell by its classes. Near cells are best added one after the other. */
  add(cell: CellOfInput, county: County | null, classes: CellClasses): void {
    const { rows, value } = cell;
    classes.copy(cell.number, this.#classes, 1);
    this.#classes[0] = this.#highestClass();
    if (this.#topics.every(({ scale, layer }) => this.#classes[layer] !== unansweredClass(scale))) {
      this.#complete.rows += rows;
      this.#complete.value += value;
    }
    this.#concentration.add(county, rows, value, this.#classes);
    this.#lists.add(cell, this.#classes);
    const point = project(cell.location);
    if (point === null) {
      this.#notDrawn += rows;
      return;
    }
    this.#bins.add(drawnPoint(this.#frame, point), cell, county, this.#classes);
  }

  /** The highest rating of a cell's natural topics; without a rating, the first reason for its absence. */
  #highestClass(): number {
    let highest = -1;
    let unrated = unansweredClass(HIGHEST);
    for (const { layer } of this.#natural) {
      const rating = this.#classes[layer]!;
      if (rating < HIGHEST.ordered) highest = Math.max(highest, rating);
      else unrated = Math.min(unrated, rating);
    }
    return highest < 0 ? unrated : highest;
  }

  /** Counts status, note and time of rows by their fields. Uncounted rows are complete. */
  count(fields: readonly Field[], rows: number): void {
    const [status, note, asOf] = fields;
    const name = String(status);
    this.#counted += rows;
    this.#status.set(name, (this.#status.get(name) ?? 0) + rows);
    const text = name === 'ok' ? '' : String(note ?? '').replace(SAMPLE_PREFIX, '');
    if (text !== '') {
      const kept = this.#notes.has(text) || this.#notes.size < NOTES_KEPT ? text : 'other reasons';
      this.#notes.set(kept, (this.#notes.get(kept) ?? 0) + rows);
    }
    if (typeof asOf === 'string') this.noteTime(asOf);
  }

  noteTime(asOf: string): void {
    if (this.#oldest === null || asOf < this.#oldest) this.#oldest = asOf;
    if (this.#newest === null || asOf > this.#newest) this.#newest = asOf;
  }

  tallied(): Tallied {
    const slugs = this.#topics.map(({ slug }) => slug);
    const levels = [...this.#binnings.slice(0, -1).map((binning) => this.#bins.inLarger(binning)), this.#bins];
    const { ok = 0, ...others } = Object.fromEntries(this.#status);
    const sumOf = sumMaker(this.#decimals);
    const { states, counties, all, mostIn } = this.#concentration.totals(this.#natural, sumOf);
    const complete = ok + all.all.rows - this.#counted;
    return {
      figures: {
        places: this.#cells,
        all: sumOf(all.all),
        complete: sumOf(this.#complete),
        highest: this.#natural.length > 0 ? all.sums.rated(0, HIGHEST, sumOf) : null,
        topics: this.#topics.map(({ slug, scale, natural, layer }) => ({
          topic: slug,
          title: topicOf(slug).title,
          category: topicOf(slug).category,
          ...all.sums.rated(layer, scale, sumOf),
          mostIn: natural ? mostIn(layer) : [],
        })),
        states,
        counties,
        oldest: this.#oldest,
        newest: this.#newest,
      },
      map: {
        frame: this.#frame,
        kind: this.#binnings[0]!.kind,
        levels: levels.map((level) => level.drawn(slugs, sumOf)),
        notDrawn: this.#notDrawn,
      },
      atRisk: this.#lists.places(),
      status: complete > 0 ? { ok: complete, ...others } : others,
      reasons: [...this.#notes].map(([note, rows]) => ({ note, rows })).sort((a, b) => b.rows - a.rows),
    };
  }
}
