import { addedColumns, SAMPLE_NOTE } from '../columns/row.ts';
import type { Field } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { countyAt } from '../geo/us-counties.ts';
import type { EnrichedCell } from '../job/enriched-cells.ts';
import { ClassSums } from './class-sums.ts';
import { Concentration } from './concentration.ts';
import type { ReportFigures } from './figures.ts';
import { binningOf } from './map/bins.ts';
import { type Frame, frameOf, place, project } from './map/frame.ts';
import { MapBins } from './map/map-bins.ts';
import { HIGH, HIGHEST, type Scale, scaleOf, VERY_HIGH } from './scales.ts';
import { WorstList } from './worst-list.ts';

/** What must be known before cells are counted. */
export interface TallyOf {
  readonly topics: readonly TopicSlug[];
  /** Whether the columns that count records are among the fields. */
  readonly counts: boolean;
  /** How many distinct cells there are, and where. */
  readonly cells: number;
  readonly locations: Iterable<Location>;
}

/** Notes contain topics and reasons, so their number is unbounded. Further ones are counted together. */
const NOTES_KEPT = 100;

/** The head of the page already says that it is sample data. */
const SAMPLE_PREFIX = new RegExp(`^${SAMPLE_NOTE}(; |$)`);

interface Counted {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly from: number;
  readonly natural: boolean;
  readonly sums: ClassSums;
}

/** Computes the figures, cell by cell. Its memory grows with the map and the country, not with the input. */
export class Tally {
  readonly #topics: readonly Counted[];
  readonly #highest = new ClassSums(HIGHEST.classes.length);
  readonly #frame: Frame;
  readonly #bins: MapBins;
  readonly #concentration = new Concentration();
  readonly #worst: WorstList;
  readonly #notes = new Map<string, number>();
  readonly #status = new Map<string, number>();
  readonly #notDrawn = new Map<string, ClassSums>();
  readonly #classes: Uint8Array;
  #rows = 0;
  #value = 0;
  #cells = 0;
  #oldest: string | null = null;
  #newest: string | null = null;

  constructor({ topics, counts, cells, locations }: TallyOf) {
    this.#topics = topics.map((slug, index) => {
      const scale = scaleOf(slug);
      const from = addedColumns(topics.slice(0, index), '', counts).length;
      const natural = topicOf(slug).category === 'natural';
      return { slug, scale, from, natural, sums: new ClassSums(scale.classes.length) };
    });
    this.#frame = frameOf(locations);
    const scales = [HIGHEST, ...this.#topics.map(({ scale }) => scale)];
    this.#bins = new MapBins(binningOf(cells), scales);
    this.#worst = new WorstList(topics);
    this.#classes = new Uint8Array(scales.length);
  }

  add(cell: EnrichedCell): void {
    const { rows, value, fields } = cell;
    this.#cells++;
    this.#rows += rows;
    this.#value += value;
    this.#count(fields, rows);
    const highest = this.#classify(cell);
    const county = countyAt(cell.location);
    this.#concentration.add(county, rows, value, highest === VERY_HIGH);
    if (highest === HIGH || highest === VERY_HIGH) this.#worst.add(cell, county, this.#classes.subarray(1));
    const point = project(cell.location);
    if (point !== null) this.#bins.add(place(this.#frame, point), rows, value, this.#classes);
    else this.#missed(county?.state.name ?? 'Elsewhere', rows, value);
  }

  /** Puts the class of each topic into `#classes`, the highest rating first; returns that. */
  #classify({ fields, rows, value }: EnrichedCell): number {
    let highest = -1;
    let unrated = HIGHEST.classes.length - 1;
    for (let index = 0; index < this.#topics.length; index++) {
      const { scale, from, natural, sums } = this.#topics[index]!;
      const found = scale.classOf(fields, from);
      sums.add(found, rows, value);
      this.#classes[index + 1] = found;
      if (!natural) continue;
      if (found < scale.ordered) highest = Math.max(highest, found);
      else unrated = Math.min(unrated, found);
    }
    const all = highest < 0 ? unrated : highest;
    this.#classes[0] = all;
    this.#highest.add(all, rows, value);
    return all;
  }

  #count([status, note, asOf]: readonly Field[], rows: number): void {
    const name = String(status);
    this.#status.set(name, (this.#status.get(name) ?? 0) + rows);
    const text = name === 'ok' ? '' : String(note ?? '').replace(SAMPLE_PREFIX, '');
    if (text !== '') {
      const kept = this.#notes.has(text) || this.#notes.size < NOTES_KEPT ? text : 'other reasons';
      this.#notes.set(kept, (this.#notes.get(kept) ?? 0) + rows);
    }
    if (typeof asOf !== 'string') return;
    if (this.#oldest === null || asOf < this.#oldest) this.#oldest = asOf;
    if (this.#newest === null || asOf > this.#newest) this.#newest = asOf;
  }

  #missed(name: string, rows: number, value: number): void {
    const sums = this.#notDrawn.get(name) ?? new ClassSums(1);
    sums.add(0, rows, value);
    this.#notDrawn.set(name, sums);
  }

  figures(): ReportFigures {
    const hasNatural = this.#topics.some(({ natural }) => natural);
    return {
      cells: this.#cells,
      rows: this.#rows,
      value: this.#value,
      highest: hasNatural ? this.#highest.distribution(HIGHEST) : null,
      topics: this.#topics.map(({ slug, scale, sums }) => ({ slug, scale, distribution: sums.distribution(scale) })),
      map: {
        frame: this.#frame,
        ...this.#bins.drawn(this.#topics.map(({ slug }) => slug)),
        notDrawn: [...this.#notDrawn].map(([name, sums]) => ({ name, rows: sums.rows[0]!, value: sums.value[0]! })),
      },
      ...this.#concentration.figures(),
      worst: this.#worst.worst(),
      status: Object.fromEntries(this.#status),
      notes: [...this.#notes].map(([note, rows]) => ({ note, rows })).sort((a, b) => b.rows - a.rows),
      oldest: this.#oldest,
      newest: this.#newest,
    };
  }
}
