import type { MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import { type Box, boxOfGeometry } from './bounding-boxes.ts';
import type { Location } from './coordinates.ts';
import { metersToEdges, type PackedRings, packArea } from './outline.ts';
import { OutlineIndex } from './outline-index.ts';
import { censusNames, usAtlas } from './us-atlas.ts';

/** A county, parish, borough, municipio, island or independent city, as the census codes it. */
export interface County {
  /** Five digits; the first two are the state's. */
  readonly code: string;
  /** No other county of its state has it: `Miami-Dade`, but `Baltimore city` and `Baltimore County`. */
  readonly name: string;
  /** A state, the district or a territory, with its two digits. */
  readonly state: { readonly code: string; readonly name: string };
}

/** A pier or an islet off the drawn coast belongs to the nearest county within so many metres. */
const FARTHEST_METERS = 33_000;

interface LoadedCounties {
  readonly shapes: CountyShapes;
  readonly counties: readonly County[];
  readonly outlines: OutlineIndex;
}

let loaded: LoadedCounties | undefined;

function loadCounties() {
  loaded ??= indexed(readShapes());
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

/** The counties that us-atlas draws. */
export function allCounties(): readonly County[] {
  return loadCounties().counties;
}

/** How many counties us-atlas draws of a state, by its two digits. */
export function countyCount(state: string): number {
  return allCounties().filter(({ code }) => code.startsWith(state)).length;
}

/** The counties, and their boxes and outlines by number: plain data, whose outlines threads share. */
export interface CountyShapes {
  readonly counties: readonly County[];
  readonly boxes: readonly Box[];
  readonly rings: readonly PackedRings[];
}

function readShapes(): CountyShapes {
  const atlas = usAtlas('counties-10m');
  const states = censusNames('states');
  // One by one: the outlines of all as GeoJSON would take 30 MB, which are not needed again.
  const shapes = atlas.objects.counties.geometries.map((county) => {
    const [shape] = feature(atlas, { type: 'GeometryCollection', geometries: [county] }).features;
    const { id, geometry, properties } = shape!;
    const [code, state] = [String(id), String(id).slice(0, 2)];
    return {
      county: { code, name: properties.name, state: { code: state, name: states.get(state)! } },
      box: boxOfGeometry(geometry)!,
      rings: packArea(geometry as Polygon | MultiPolygon),
    };
  });
  return {
    counties: withDistinctNames(shapes.map(({ county }) => county)),
    boxes: shapes.map(({ box }) => box),
    rings: inSharedMemory(shapes.map(({ rings }) => rings)),
  };
}

/** Independent cities have county codes from 510, in four states. */
const FIRST_CITY = 510;

/** Whether a county's code is that of an independent city, which lies in no county. */
export function isIndependentCity(code: string): boolean {
  return Number(code.slice(2)) >= FIRST_CITY && /^(24|29|32|51)/.test(code);
}

/** us-atlas gives an independent city and the county around it one name, six times: these get the Census Bureau's full names. */
function withDistinctNames(counties: readonly County[]): readonly County[] {
  const sharing = Map.groupBy(counties, countyName);
  return counties.map((county) => {
    if (sharing.get(countyName(county))!.length === 1) return county;
    const kind = isIndependentCity(county.code) ? 'city' : 'County';
    return { ...county, name: `${county.name} ${kind}` };
  });
}

/** The same numbers one after the other, in memory that threads share. */
function inSharedMemory(all: readonly PackedRings[]): PackedRings[] {
  const values = new Int32Array(
    new SharedArrayBuffer(4 * all.reduce((sum, { length }) => sum + length, 0)),
  );
  let at = 0;
  return all.map((rings) => {
    values.set(rings, at);
    at += rings.length;
    return values.subarray(at - rings.length, at);
  });
}

/** What this module has read, for other threads: reading it again takes each of them 0.3 s and 40 MB. */
export function knownCounties(): CountyShapes {
  return loadCounties().shapes;
}

/** Takes what another thread has read (`knownCounties`). */
export function useCounties(shapes: CountyShapes): void {
  loaded = indexed(shapes);
}

function indexed(shapes: CountyShapes): LoadedCounties {
  const { counties, boxes, rings } = shapes;
  return { shapes, counties, outlines: new OutlineIndex(boxes, (index) => rings[index]!) };
}

/** `Miami-Dade, Florida`, which no other county is called; '' off every outline. */
export function countyName(county: County | null): string {
  return county === null ? '' : `${county.name}, ${county.state.name}`;
}
