import type { TopicSlug } from '../../contract/topics.ts';
import type { County } from '../../geo/us-counties.ts';
import {
  COUNTIES_SHOWN,
  countyLabel,
  ELSEWHERE,
  type LargestAreas,
  largestAreas,
} from './largest-areas.ts';
import { HIGH, HIGHEST, type Scale, unansweredClass, VERY_HIGH } from './scales.ts';
import { type CountedSum, LayerSums, type Sum, type SumOf } from './sums.ts';

const STATES_SHOWN = 12;
const MOST_IN_SHOWN = 3;

interface SummedArea {
  readonly name: string;
  readonly state: string;
  readonly sums: LayerSums;
  /** Rows and value of all classes: areas are ordered by them. */
  readonly all: CountedSum;
}

const UNANSWERED = unansweredClass(HIGHEST);

/** The states or counties with the largest value, or with most locations, the rest together, and all. */
export interface AreaList extends LargestAreas<AreaFacts> {
  /** All together. */
  readonly all: AreaFacts;
}

/** A state or a county, or several together. */
export interface AreaFacts extends Sum {
  /** The name of the area. */
  readonly name: string;
  /** Locations with an answer to at least one natural topic. */
  readonly answered: Sum;
  /** Answered locations that are Very High for at least one natural hazard. */
  readonly veryHigh: Sum;
  /** One for each natural topic, and for each layer of zones. */
  readonly perils: readonly {
    /** The name of the topic. */
    readonly topic: TopicSlug;
    /** Locations with an answer; of layers of zones: whose zone is determined. */
    readonly answered: Sum;
    /** Those rated Relatively High or Very High; of layers of zones: in a severe class, as a Special Flood Hazard Area. */
    readonly severe: Sum;
  }[];
}

interface AreaTotals {
  readonly states: AreaList;
  readonly counties: AreaList;
  readonly all: SummedArea;
  /** The counties with most of a topic's Very High sum; if it is 0, of its severe sum. */
  mostIn(layer: number): readonly (Sum & { readonly county: string })[];
}

/** Adds up locations and value of states and counties. */
interface Concentration {
  /** @param classes the class in each layer */
  add(county: County | null, rows: number, value: number, classes: Uint8Array): void;
  /** The sums, with the layers of the perils in the lists of areas. */
  totals(perils: readonly PerilLayer[], sumOf: SumOf): AreaTotals;
}

interface PerilLayer {
  readonly slug: TopicSlug;
  readonly layer: number;
  readonly scale: Scale;
}

/** Locations and value in each state and county, by the highest rating and by topic.
 * @param layers the highest rating, then each topic */
export function makeConcentration(layers: number): Concentration {
  const sumsOf = new Map<County | null, LayerSums>();
  const addedUp = (name: string, areas: readonly SummedArea[]): SummedArea => {
    const sums = new LayerSums(layers);
    for (const area of areas) sums.addAll(area.sums);
    return { name, state: name, sums, all: sums.counted(0) };
  };
  return {
    add(county: County | null, rows: number, value: number, classes: Uint8Array): void {
      let sums = sumsOf.get(county);
      if (sums === undefined) {
        sums = new LayerSums(layers);
        sumsOf.set(county, sums);
      }
      sums.add(rows, value, classes);
    },

    totals(perils: readonly PerilLayer[], sumOf: SumOf): AreaTotals {
      const counties = [...sumsOf].map(([county, sums]) => ({
        name: countyLabel(county),
        state: county?.state.name ?? ELSEWHERE,
        sums,
        all: sums.counted(0),
      }));
      const states = [...Map.groupBy(counties, ({ state }) => state)].map(([name, of]) =>
        addedUp(name, of),
      );
      const all = addedUp('All', counties);
      const factsOf = ({ name, sums, all: whole }: SummedArea): AreaFacts => ({
        name,
        ...sumOf(whole),
        answered: sumOf(sums.counted(0, 0, UNANSWERED)),
        veryHigh: sumOf(sums.counted(0, VERY_HIGH, VERY_HIGH + 1)),
        perils: perils.map(({ slug, layer, scale: { known, severe, ordered } }) => ({
          topic: slug,
          answered: sumOf(sums.counted(layer, 0, known)),
          severe: sumOf(sums.counted(layer, severe.from, ordered)),
        })),
      });
      const listOf = (areas: readonly SummedArea[], most: number): AreaList => {
        const { count, largest, others } = largestAreas(byValue(areas), most, addedUp);
        return {
          count,
          largest: largest.map(factsOf),
          others: others && factsOf(others),
          all: factsOf(all),
        };
      };
      const mostIn = (layer: number): readonly (Sum & { readonly county: string })[] => {
        const of = (from: number) =>
          byValue(
            counties.map(({ name, sums }) => ({
              name,
              all: sums.counted(layer, from, VERY_HIGH + 1),
            })),
          ).filter((county) => county.all.rows > 0);
        const veryHigh = of(VERY_HIGH);
        return (veryHigh.length > 0 ? veryHigh : of(HIGH))
          .slice(0, MOST_IN_SHOWN)
          .map(({ name, all: sum }) => ({ county: name, ...sumOf(sum) }));
      };
      return {
        states: listOf(states, STATES_SHOWN),
        counties: listOf(counties, COUNTIES_SHOWN),
        all,
        mostIn,
      };
    },
  };
}

/** By value, in which losses are measured, then by locations. */
function byValue<Of extends Pick<SummedArea, 'name' | 'all'>>(areas: readonly Of[]): Of[] {
  return areas.toSorted(
    (a, b) => b.all.value - a.all.value || b.all.rows - a.all.rows || (a.name < b.name ? -1 : 1),
  );
}
