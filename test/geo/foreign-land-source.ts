import { createRequire } from 'node:module';
import type { Feature, MultiPolygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import {
  makeOutline,
  metersToEdges,
  type Outline,
  packRings,
  polygonsOf,
} from '../../src/geo/outline.ts';
import { FARTHEST_METERS } from '../../src/geo/us-coverage.ts';
import { positions } from './lines.ts';

type Named = { readonly name: string };

const NEIGHBOURS = ['Canada', 'Mexico', 'British Virgin Is.'];

/** Of outlines farther from the US than `foreignLandAt` looks only every tenth of a degree is kept: whether a place near the US lies
 * inside does not depend on it. */
const STEP_FAR_AWAY = 0.1;

/** Inhabited islands beside the US that Natural Earth leaves out, as boxes. */
const OMITTED = [
  '-66.99 44.82, -66.99 44.96, -66.89 44.96, -66.89 44.82, -66.99 44.82', // Campobello, New Brunswick
  '-67.0 44.91, -67.0 45.03, -66.9 45.03, -66.9 44.91, -67.0 44.91', // Deer Island, New Brunswick
];

/** Makes src/geo/foreign-land.json from Natural Earth's countries, as world-atlas has them. */
export function makeForeignLand(): Topology {
  const load = createRequire(import.meta.url);
  const atlas: Topology<{ countries: GeometryCollection<Named> }> = load(
    'world-atlas/countries-10m.json',
  );
  const us: Topology<{ nation: GeometryCollection }> = load('us-atlas/states-10m.json');
  const outlines = feature(us, us.objects.nation).features.flatMap(ringsOf);
  const nation = makeOutline(packRings(outlines));
  const { scale, translate } = atlas.transform!;
  const arcs = feature(atlas, atlas.objects.countries)
    .features.filter(({ properties }) => NEIGHBOURS.includes(properties.name))
    .flatMap(ringsOf)
    .concat(OMITTED.map(positions))
    .map((ring) => thinned(ring, nation))
    .filter((ring) => ring !== null)
    .map((ring) => steps(ring, scale, translate));
  const land = { type: 'Polygon', arcs: arcs.map((_, index) => [index]) } as const;
  return { type: 'Topology', transform: { scale, translate }, objects: { land }, arcs };
}

const ringsOf = ({ geometry }: Feature): Position[][] =>
  polygonsOf(geometry as MultiPolygon).flat();

/** The ring with fewer positions far from the US; null for one that is nowhere near it. */
function thinned(ring: Position[], nation: Outline): Position[] | null {
  const isNear = ring.map(
    ([lng, lat]) =>
      metersToEdges(nation, { lat: lat!, lng: lng! }, FARTHEST_METERS) <= FARTHEST_METERS,
  );
  if (!isNear.includes(true)) return null;
  let [keptLng, keptLat] = [Number.NaN, Number.NaN];
  return ring.filter(([lng, lat], index) => {
    const isEnd = index === 0 || index === ring.length - 1;
    // Beside a near position too, so that no near edge is changed.
    const isKept =
      isEnd ||
      [index - 1, index, index + 1].some((i) => isNear[i]) ||
      Math.hypot(lng! - keptLng, lat! - keptLat) > STEP_FAR_AWAY;
    if (isKept) [keptLng, keptLat] = [lng!, lat!];
    return isKept;
  });
}

function steps(ring: Position[], [xScale, yScale]: number[], [west, south]: number[]): number[][] {
  let [x, y] = [0, 0];
  return ring.map(([lng, lat]) => {
    const [fromX, fromY] = [x, y];
    [x, y] = [Math.round((lng! - west!) / xScale!), Math.round((lat! - south!) / yScale!)];
    return [x - fromX, y - fromY];
  });
}
