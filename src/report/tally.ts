import { addedColumns, SAMPLE_NOTE } from '../columns/row.ts';
import type { Field } from '../contract/answer.ts';
import { type TopicSlug, topicOf } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { countyAt } from '../geo/us-counties.ts';
import type { EnrichedCell } from '../job/enriched-cells.ts';
import { ClassSums } from './class-sums.ts';
import { Concentration } from './concentration.ts';
import type { ReportFigures } from './figures.ts';
import { LocationLists } from './location-lists.ts';
import { binningsOf } from './map/bins.ts';
import { type Frame, frameOf, place, project } from './map/frame.ts';
import { MapBins } from './map/map-bins.ts';
import { HIGHEST, type Scale, scaleOf, type Units } from './scales.ts';

/** What must be known before cells are counted. */
export interface TallyOf {
  readonly topics: readonly TopicSlug[];
  /** Whether the columns that count records are among the fields. */
  readonly counts: boolean;
  readonly units: Units;
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
  readonly #kind: 'point' | 'hexagon';
  readonly #levels: readonly MapBins[];
  readonly #concentration: Concentration;
  readonly #lists: LocationLists;
  readonly #notes = new Map<string, number>();
  readonly #status = new Map<string, number>();
  readonly #notDrawn = { rows: 0, value: 0 };
  readonly #classes: Uint8Array;
  #rows = 0;
  #value = 0;
  #cells = 0;
  #oldest: string | null = null;
  #newest: string | null = null;

  constructor({ topics, counts, units, cells, locations }: TallyOf) {
    this.#topics = topics.map((slug, index) => {
      const scale = scaleOf(slug, units);
      const from = addedColumns(topics.slice(0, index), '', counts).length;
      const natural = topicOf(slug).category === 'natural';
      return { slug, scale, from, natural, sums: new ClassSums(scale.classes.length) };
    });
    this.#frame = frameOf(locations);
    const scales = [HIGHEST, ...this.#topics.map(({ scale }) => scale)];
    const binnings = binningsOf(cells);
    this.#kind = binnings[0]!.kind;
    this.#levels = binnings.map((binning) => new MapBins(binning, scales));
    const natural = [...this.#topics.entries()].flatMap(([index, topic]) => (topic.natural ? [index + 1] : []));
    this.#concentration = new Concentration(natural);
    this.#lists = new LocationLists(natural);
    this.#classes = new Uint8Array(scales.length);
  }

  add(cell: EnrichedCell): void {
    const { rows, value, fields } = cell;
    this.#cells++;
    this.#rows += rows;
    this.#value += value;
    this.#count(fields, rows);
    this.#classify(cell);
    const county = countyAt(cell.location);
    this.#concentration.add(county, rows, value, this.#classes);
    this.#lists.add(cell, county, this.#classes);
    const point = project(cell.location);
    if (point === null) {
      this.#notDrawn.rows += rows;
      this.#notDrawn.value += value;
      return;
    }
    const at = place(this.#frame, point);
    for (const level of this.#levels) level.add(at, rows, value, this.#classes);
  }

  /** Puts the class of each topic into `#classes`, the highest rating first. */
  #classify({ fields, rows, value }: EnrichedCell): void {
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

  figures(): ReportFigures {
    const natural = this.#topics.filter((topic) => topic.natural).map(({ slug }) => slug);
    const slugs = this.#topics.map(({ slug }) => slug);
    return {
      cells: this.#cells,
      rows: this.#rows,
      value: this.#value,
      highest: natural.length > 0 ? this.#highest.distribution(HIGHEST) : null,
      topics: this.#topics.map(({ slug, scale, sums }) => ({ slug, scale, distribution: sums.distribution(scale) })),
      natural,
      map: {
        frame: this.#frame,
        kind: this.#kind,
        levels: this.#levels.map((level) => level.drawn(slugs)),
        notDrawn: { ...this.#notDrawn },
      },
      ...this.#concentration.figures(),
      locations: this.#lists.locations(),
      status: Object.fromEntries(this.#status),
      notes: [...this.#notes].map(([note, rows]) => ({ note, rows })).sort((a, b) => b.rows - a.rows),
      oldest: this.#oldest,
      newest: this.#newest,
    };
  }
}
