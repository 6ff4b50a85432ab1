import { SAMPLE_NOTE } from '../columns/row.ts';
import type { Field } from '../contract/answer.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { County } from '../geo/us-counties.ts';
import type { CellOfInput } from '../job/enriched-cells.ts';
import { type CellClasses, type RatedTopic, ratedTopics } from './cell-classes.ts';
import { ClassSums } from './class-sums.ts';
import { Concentration } from './concentration.ts';
import type { ReportFigures } from './figures.ts';
import { LocationLists } from './location-lists.ts';
import { binningsOf } from './map/bins.ts';
import { type Frame, place, project } from './map/frame.ts';
import { MapBins } from './map/map-bins.ts';
import { HIGHEST, type Units } from './scales.ts';

/** What must be known before cells are counted. */
export interface TallyOf {
  readonly topics: readonly TopicSlug[];
  /** Whether the columns that count records are among the fields. */
  readonly counts: boolean;
  readonly units: Units;
  /** How many distinct cells there are. */
  readonly cells: number;
  readonly frame: Frame;
}

/** Notes contain topics and reasons, so their number is unbounded. Further ones are counted together. */
const NOTES_KEPT = 100;

/** The head of the page already says that it is sample data. */
const SAMPLE_PREFIX = new RegExp(`^${SAMPLE_NOTE}(; |$)`);

/** Computes the figures, cell by cell. Its memory grows with the map and the country, not with the input. */
export class Tally {
  readonly #topics: readonly RatedTopic[];
  readonly #sums: readonly ClassSums[];
  readonly #highest = new ClassSums(HIGHEST.classes.length);
  readonly #frame: Frame;
  readonly #kind: 'point' | 'hexagon';
  readonly #levels: readonly MapBins[];
  readonly #concentration: Concentration;
  readonly #lists: LocationLists;
  readonly #notes = new Map<string, number>();
  readonly #status = new Map<string, number>();
  readonly #notDrawn = { rows: 0, value: 0 };
  /** Of the cell that is added: the highest rating, then that of each topic. */
  readonly #classes: Uint8Array;
  #rows = 0;
  /** Rows of those whose fields were counted. */
  #counted = 0;
  #value = 0;
  #cells = 0;
  #oldest: string | null = null;
  #newest: string | null = null;

  constructor({ topics, counts, units, cells, frame }: TallyOf) {
    this.#topics = ratedTopics({ topics, counts, units });
    this.#sums = this.#topics.map(({ scale }) => new ClassSums(scale.classes.length));
    this.#frame = frame;
    const scales = [HIGHEST, ...this.#topics.map(({ scale }) => scale)];
    const binnings = binningsOf(cells);
    this.#kind = binnings[0]!.kind;
    this.#levels = binnings.map((binning) => new MapBins(binning, scales));
    const natural = [...this.#topics.entries()].flatMap(([index, topic]) => (topic.natural ? [index + 1] : []));
    this.#concentration = new Concentration(natural);
    this.#lists = new LocationLists(natural);
    this.#classes = new Uint8Array(scales.length);
  }

  /** Adds a cell by its classes. Near cells are best added one after the other. */
  add(cell: CellOfInput, county: County | null, classes: CellClasses): void {
    const { rows, value } = cell;
    this.#cells++;
    this.#rows += rows;
    this.#value += value;
    classes.copy(cell.number, this.#classes, 1);
    this.#sum(rows, value);
    this.#concentration.add(county, rows, value, this.#classes);
    this.#lists.add(cell, county, this.#classes);
    const point = project(cell.location);
    if (point === null) {
      this.#notDrawn.rows += rows;
      this.#notDrawn.value += value;
      return;
    }
    const at = place(this.#frame, point);
    for (const level of this.#levels) level.add(at, cell, this.#classes);
  }

  /** Finds the highest class, and adds to the sums of all. */
  #sum(rows: number, value: number): void {
    let highest = -1;
    let unrated = HIGHEST.classes.length - 1;
    for (let index = 0; index < this.#topics.length; index++) {
      const { scale, natural } = this.#topics[index]!;
      const found = this.#classes[index + 1]!;
      this.#sums[index]!.add(found, rows, value);
      if (!natural) continue;
      if (found < scale.ordered) highest = Math.max(highest, found);
      else unrated = Math.min(unrated, found);
    }
    const all = highest < 0 ? unrated : highest;
    this.#classes[0] = all;
    this.#highest.add(all, rows, value);
  }

  /** Counts status, note and time of rows by their fields. Rows that are not counted lack nothing. */
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

  /** The time of an answer, ISO 8601. */
  noteTime(asOf: string): void {
    if (this.#oldest === null || asOf < this.#oldest) this.#oldest = asOf;
    if (this.#newest === null || asOf > this.#newest) this.#newest = asOf;
  }

  figures(): ReportFigures {
    const natural = this.#topics.filter((topic) => topic.natural).map(({ slug }) => slug);
    const slugs = this.#topics.map(({ slug }) => slug);
    const { ok = 0, ...others } = Object.fromEntries(this.#status);
    const complete = ok + this.#rows - this.#counted;
    return {
      cells: this.#cells,
      rows: this.#rows,
      value: this.#value,
      highest: natural.length > 0 ? this.#highest.distribution(HIGHEST) : null,
      topics: this.#topics.map(({ slug, scale }, index) => ({
        slug,
        scale,
        distribution: this.#sums[index]!.distribution(scale),
      })),
      natural,
      map: {
        frame: this.#frame,
        kind: this.#kind,
        levels: this.#levels.map((level) => level.drawn(slugs)),
        notDrawn: { ...this.#notDrawn },
      },
      ...this.#concentration.figures(),
      locations: this.#lists.locations(),
      status: complete > 0 ? { ok: complete, ...others } : others,
      notes: [...this.#notes].map(([note, rows]) => ({ note, rows })).sort((a, b) => b.rows - a.rows),
      oldest: this.#oldest,
      newest: this.#newest,
    };
  }
}
