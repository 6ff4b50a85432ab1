import { between, makeRandom, pick, type Random, whole } from '../../src/sample/random.ts';

/** The number of rows of the well-known sample portfolio of Florida, whose columns these are. */
export const FLORIDA_ROWS = 36_634;

const COLUMNS = [
  ...['policyID', 'statecode', 'county', 'eq_site_limit', 'hu_site_limit', 'fl_site_limit', 'fr_site_limit'],
  ...['tiv_2011', 'tiv_2012', 'eq_site_deductible', 'hu_site_deductible', 'fl_site_deductible', 'fr_site_deductible'],
  ...['point_latitude', 'point_longitude', 'line', 'construction', 'point_granularity'],
];

/** Counties with a point inside them, and how many rows of 100 they have. */
const COUNTIES: readonly (readonly [name: string, lat: number, lng: number, share: number])[] = [
  ['MIAMI-DADE COUNTY', 25.75, -80.4, 14],
  ['BROWARD COUNTY', 26.15, -80.25, 10],
  ['PALM BEACH COUNTY', 26.65, -80.25, 9],
  ['ORANGE COUNTY', 28.5, -81.35, 9],
  ['HILLSBOROUGH COUNTY', 27.95, -82.35, 9],
  ['PINELLAS COUNTY', 27.9, -82.74, 6],
  ['DUVAL COUNTY', 30.33, -81.68, 8],
  ['CLAY COUNTY', 30.0, -81.78, 4],
  ['LEE COUNTY', 26.58, -81.8, 6],
  ['BREVARD COUNTY', 28.15, -80.72, 4],
  ['VOLUSIA COUNTY', 29.05, -81.15, 4],
  ['POLK COUNTY', 28.0, -81.75, 5],
  ['ALACHUA COUNTY', 29.67, -82.35, 3],
  ['LEON COUNTY', 30.45, -84.28, 3],
  ['BAY COUNTY', 30.25, -85.62, 2],
  ['ESCAMBIA COUNTY', 30.6, -87.2, 3],
  ['MONROE COUNTY', 24.72, -81.06, 1],
];

const BY_SHARE = COUNTIES.flatMap((county) => new Array<(typeof COUNTIES)[number]>(county[3]).fill(county));

/** Rows that repeat the coordinates of the row before: apartments of one building. */
const SAME_BUILDING = 0.08;

/** Rows without coordinates: one in 1,000. */
const UNLOCATED = 0.001;

const CONSTRUCTIONS = ['Masonry', 'Wood', 'Reinforced Concrete', 'Steel Frame', 'Reinforced Masonry'];

/** A made-up portfolio as CSV. The same number of rows is always the same text. */
export function floridaPortfolio(rows: number): string {
  const random = makeRandom(1, 'florida-portfolio');
  const lines: string[] = [];
  let place = placeOf(random);
  for (let row = 0; row < rows; row++) {
    if (random() >= SAME_BUILDING) place = placeOf(random);
    const isResidential = random() < 0.8;
    const tiv = Math.round(Math.exp(between(random, 10, isResidential ? 14 : 18)));
    const before = Math.round(tiv * between(random, 0.7, 1.1));
    const limits = Array.from({ length: 4 }, () => (random() < 0.3 ? 0 : tiv));
    const deductibles = limits.map((limit) => (random() < 0.8 ? 0 : Math.round(limit * 0.02)));
    const at = random() < UNLOCATED ? ['', ''] : [place.lat, place.lng];
    lines.push(
      [
        ...[100_000 + row * 7, 'FL', place.county, ...limits, before, tiv, ...deductibles, ...at],
        ...[isResidential ? 'Residential' : 'Commercial', pick(random, CONSTRUCTIONS), whole(random, 1, 4)],
      ].join(),
    );
  }
  return `${COLUMNS.join()}\n${lines.join('\n')}\n`;
}

function placeOf(random: Random): { readonly county: string; readonly lat: string; readonly lng: string } {
  const [county, lat, lng] = pick(random, BY_SHARE);
  // Most near the middle of a town, some far out.
  const spread = () => (random() - 0.5) * (random() < 0.7 ? 0.12 : 0.3);
  // Six decimals, of which the last is not 0: rounding to four is then the same in every program.
  const text = (degrees: number) => `${degrees.toFixed(5)}${whole(random, 1, 9)}`;
  return { county, lat: text(lat + spread()), lng: text(lng + spread()) };
}
