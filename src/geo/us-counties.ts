import type { MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import { boxOfGeometry } from './bounding-boxes.ts';
import type { Location } from './coordinates.ts';
import { metersToEdges, packArea } from './outline.ts';
import { OutlineIndex } from './outline-index.ts';
import { censusNames, usAtlas } from './us-atlas.ts';

/** A county, parish, borough, municipio or island, as the census codes it. */
export interface County {
  /** Five digits; the first two are the state's. */
  readonly code: string;
  readonly name: string;
  /** A state, the district or a territory, with its two digits. */
  readonly state: { readonly code: string; readonly name: string };
}

/** A pier or an islet off the drawn coast belongs to the nearest county within so many metres. */
const FARTHEST_METERS = 33_000;

let loaded: ReturnType<typeof readCounties> | undefined;

function loadCounties() {
  loaded ??= readCounties();
  return loaded;
}

/** The county of a location, from us-atlas (1:10m: within some hundred metres of a border it may be the neighbour; Connecticut has its
 * eight former counties). Off the coast it is the nearest county; null outside the US. */
export function countyAt(location: Location): County | null {
  const { counties, outlines } = loadCounties();
  const index = outlines.holding(location) ?? outlines.nearest(location, FARTHEST_METERS);
  return index === null ? null : counties[index]!;
}

/** The county whose outline holds a location; null off the drawn coast. */
export function countyHolding(location: Location): County | null {
  const { counties, outlines } = loadCounties();
  const index = outlines.holding(location);
  return index === null ? null : counties[index]!;
}

/** The borders of us-atlas differ from the real ones by up to some 400 m. */
const ACCURACY_METERS = 500;

/** The counties that a location may be in: the nearest, and those as near within the accuracy of us-atlas. Empty outside the US. */
export function possibleCounties(location: Location): readonly County[] {
  const { counties, outlines } = loadCounties();
  const holder = outlines.holding(location);
  const nearest = holder ?? outlines.nearest(location, FARTHEST_METERS);
  if (nearest === null) return [];
  const meters =
    holder === null ? metersToEdges(outlines.outline(nearest), location, FARTHEST_METERS) : 0;
  const others = outlines
    .within(location, meters + ACCURACY_METERS)
    .filter((index) => index !== nearest);
  return [nearest, ...others].map((index) => counties[index]!);
}

/** How many counties us-atlas draws of a state, by its two digits. */
export function countyCount(state: string): number {
  return loadCounties().counties.filter(({ code }) => code.startsWith(state)).length;
}

function readCounties() {
  const atlas = usAtlas('counties-10m');
  const states = censusNames('states');
  const shapes = feature(atlas, atlas.objects.counties).features;
  const counties = shapes.map(({ id, properties }): County => {
    const [code, state] = [String(id), String(id).slice(0, 2)];
    return { code, name: properties.name, state: { code: state, name: states.get(state)! } };
  });
  const boxes = shapes.map(({ geometry }) => boxOfGeometry(geometry)!);
  const rings = shapes.map(({ geometry }) => packArea(geometry as Polygon | MultiPolygon));
  return { counties, outlines: new OutlineIndex(boxes, (index) => rings[index]!) };
}

/** `Miami-Dade, Florida`; '' off every outline. */
export function countyName(county: County | null): string {
  return county === null ? '' : `${county.name}, ${county.state.name}`;
}
