import { SAMPLE_NOTE } from '../../columns/row-status.ts';
import type { Field } from '../../contract/answer.ts';
import { topicOf } from '../../contract/topics.ts';
import { LOSS_RATES } from '../../data/topics/loss-rates.ts';
import { type PlaceLosses, rateOfPlace } from '../../formats/packed/place-losses.ts';
import type { County } from '../../geo/us-counties.ts';
import type { Job } from '../../job/settings.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { drawnPoint, type Frame, project } from '../map/frame.ts';
import { binningsOf, MapBins, type MapFigures } from '../map/map-bins.ts';
import { type CellClasses, ratedTopics } from './cell-classes.ts';
import { makeConcentration } from './concentration.ts';
import type { Facts } from './facts.ts';
import { type CellAtRisk, makePlaceLists } from './place-lists.ts';
import { HIGHEST, LOSS, unansweredClass } from './scales.ts';
import { sumMaker } from './sums.ts';

interface TallyOf extends Pick<Job, 'topics' | 'counts' | 'units'> {
  readonly cells: number;
  readonly frame: Frame;
  /** The decimals of the value units (`CellTable`); null if the input has no values. */
  readonly decimals: number | null;
  /** Null for a report without losses. */
  readonly losses: PlaceLosses | null;
}

/** Notes contain topics and reasons, so their number is unbounded. Further ones are counted together. */
const NOTES_KEPT = 100;

/** Dropped from notes, because the head of the page states that it is sample data. */
const SAMPLE_PREFIX = new RegExp(`^${SAMPLE_NOTE}(; |$)`);

/** What the figures are of: facts of the report, its map, and the places to name. */
interface Tallied {
  readonly figures: Pick<
    Facts,
    'places' | 'all' | 'complete' | 'highest' | 'topics' | 'states' | 'counties'
  > & {
    /** When the oldest and the newest answer was given; null without answers. */
    readonly oldest: string | null;
    readonly newest: string | null;
  };
  readonly map: Omit<MapFigures, 'finds'>;
  readonly atRisk: readonly CellAtRisk[];
  /** Rows by `hazard_status`. */
  readonly status: Readonly<Record<string, number>>;
  readonly reasons: Facts['missing']['reasons'];
}

/** Computes the figures of a report. */
interface Tally {
  /** Adds the rows of a cell, or a group of them, by their classes. Near cells are best added one after the other. */
  add(cell: CellOfInput, county: County | null, classes: CellClasses): void;
  /** Takes a whole cell into account for the lists of places. */
  list(cell: CellOfInput, classes: CellClasses): void;
  /** Counts status, note and time of rows by their fields. Uncounted rows are complete. */
  count(fields: readonly Field[], rows: number): void;
  readonly noteTime: (asOf: string) => void;
  tallied(): Tallied;
}

/** Computes the figures, cell by cell. Its memory grows with the map and the country, not with the input. */
export function makeTally({
  topics,
  counts,
  units,
  cells,
  frame,
  decimals,
  losses,
}: TallyOf): Tally {
  const rated = ratedTopics({ topics, counts, units });
  const naturalTopics = rated.filter(({ natural }) => natural);
  const ofTopics = [HIGHEST, ...rated.map(({ scale }) => scale)];
  /** Losses are the last layer. */
  const scales = losses === null ? ofTopics : [...ofTopics, LOSS];
  /** From coarse to fine. */
  const binnings = binningsOf(cells);
  const bins = new MapBins(binnings.at(-1)!, scales);
  const concentration = makeConcentration(scales.length);
  const lists = makePlaceLists(naturalTopics);
  const notes = new Map<string, number>();
  const rowsByStatus = new Map<string, number>();
  /** The added cell's highest rating, then its rating for each topic, then its loss. */
  const ofCell = new Uint8Array(scales.length);
  /** Of the cells that have an answer to each topic. */
  const complete = { rows: 0, value: 0 };
  let notDrawn = 0;
  /** Rows of the cells whose fields were counted. */
  let counted = 0;
  let oldest: string | null = null;
  let newest: string | null = null;

  /** The highest rating of a cell's natural topics; without a rating, the first reason for its absence. */
  const highestClass = (): number => {
    let highest = -1;
    let unrated = unansweredClass(HIGHEST);
    for (const { layer } of naturalTopics) {
      const rating = ofCell[layer]!;
      if (rating < HIGHEST.ordered) highest = Math.max(highest, rating);
      else unrated = Math.min(unrated, rating);
    }
    return highest < 0 ? unrated : highest;
  };

  const takeClasses = ({ group, number }: CellOfInput, classes: CellClasses): void => {
    classes.copy(group, ofCell, 1);
    ofCell[0] = highestClass();
    if (losses !== null) ofCell[ofTopics.length] = LOSS.classOf([rateOfPlace(losses, number)], 0);
  };

  const noteTime = (asOf: string): void => {
    if (oldest === null || asOf < oldest) oldest = asOf;
    if (newest === null || asOf > newest) newest = asOf;
  };

  return {
    add(cell: CellOfInput, county: County | null, classes: CellClasses): void {
      const { rows, value } = cell;
      takeClasses(cell, classes);
      if (rated.every(({ scale, layer }) => ofCell[layer] !== unansweredClass(scale))) {
        complete.rows += rows;
        complete.value += value;
      }
      concentration.add(county, rows, value, ofCell);
      const point = project(cell.location);
      if (point === null) notDrawn += rows;
      else bins.add(drawnPoint(frame, point), cell, county, ofCell);
    },

    list(cell: CellOfInput, classes: CellClasses): void {
      takeClasses(cell, classes);
      lists.add(cell, ofCell);
    },

    count(fields: readonly Field[], rows: number): void {
      const [status, note, asOf] = fields;
      const name = String(status);
      counted += rows;
      rowsByStatus.set(name, (rowsByStatus.get(name) ?? 0) + rows);
      const text = name === 'ok' ? '' : String(note ?? '').replace(SAMPLE_PREFIX, '');
      if (text !== '') {
        const kept = notes.has(text) || notes.size < NOTES_KEPT ? text : 'other reasons';
        notes.set(kept, (notes.get(kept) ?? 0) + rows);
      }
      if (typeof asOf === 'string') noteTime(asOf);
    },

    noteTime,

    tallied() {
      const slugs = rated.map(({ slug }) => slug);
      const layers = losses === null ? slugs : [...slugs, LOSS_RATES];
      const levels = [...binnings.slice(0, -1).map((binning) => bins.inLarger(binning)), bins];
      const { ok = 0, ...others } = Object.fromEntries(rowsByStatus);
      const sumOf = sumMaker(decimals);
      const { states, counties, all, mostIn } = concentration.totals(
        rated.filter(({ isPeril }) => isPeril),
        sumOf,
      );
      const completeRows = ok + all.all.rows - counted;
      return {
        figures: {
          places: cells,
          all: sumOf(all.all),
          complete: sumOf(complete),
          highest: naturalTopics.length > 0 ? all.sums.rated(0, HIGHEST, sumOf) : null,
          topics: rated.map(({ slug, scale, natural, layer }) => ({
            topic: slug,
            title: topicOf(slug).title,
            category: topicOf(slug).category,
            ...all.sums.rated(layer, scale, sumOf),
            mostIn: natural ? mostIn(layer) : [],
          })),
          states,
          counties,
          oldest,
          newest,
        },
        map: {
          frame,
          kind: binnings[0]!.kind,
          levels: levels.map((level) => level.drawn(layers, sumOf)),
          notDrawn,
        },
        atRisk: lists.places(),
        status: completeRows > 0 ? { ok: completeRows, ...others } : others,
        reasons: [...notes].map(([note, rows]) => ({ note, rows })).sort((a, b) => b.rows - a.rows),
      };
    },
  };
}
