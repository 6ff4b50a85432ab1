import { memo } from '../../base/memo.ts';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import type { ZoneValue } from '../../contract/topic-values.ts';
import { type Box, boxOfLocation } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { ringsOfBytes } from '../../geo/outline.ts';
import { createBoxSearch, OutlineIndex } from '../../geo/outline-index.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { type DatasetPart, storedParts, WHOLE_US } from '../tables/parts.ts';
import { stateOf } from '../tables/states.ts';
import {
  kindOf,
  type RankedKind,
  type StoredFacts,
  shownClass,
  specialAreaOf,
  type ZoneName,
} from './zone-layer.ts';
import { zoneDatasetOf, zoneTables } from './zone-layers.ts';

/** The most values of outlines in memory: 32 MB of zones, 4 of panels. Places come in order. */
const MOST_VALUES = { zone: 8_000_000, panel: 1_000_000 } as const;

/** The facts of zones that are kept: places come in order. */
const KEPT_FACTS = 1_000;

/** Makes the function that finds the zone of a place, and its sheet of the map: of several zones that hold it, the most hazardous, or as the
 * description says. Null where the layer says nothing: no zone holds it and the description does not say that there is none, or it was not
 * studied. Boxes are in memory, outlines are read when needed. The layer must be loaded. */
export function createZoneFinder(
  database: DataDatabase,
  versionOf: DataVersion,
  layer: PolygonLayer,
): (location: Location, state: string) => ZoneValue | 'not_loaded' | null {
  const highestId = database
    .prepare<[], number | null>(`SELECT max(id) FROM ${zoneTables(layer).zones}`)
    .pluck();
  let loaded: ReturnType<typeof loadZones> | null = null;
  const current = oncePerVersion(versionOf, () => {
    // Other datasets are replaced by the hour, and a state has 300,000 zones. Ids are never reused: every load has its own highest one.
    const highest = highestId.get()!;
    if (loaded?.highest !== highest) loaded = loadZones(database, layer, highest);
    return loaded;
  });
  return (location, state) =>
    current().covers(location, state) ? current().find(location, state) : 'not_loaded';
}

/** What a place without a zone gets, where the description says that there is none. */
const NONE = 'none';

interface NamedKind extends RankedKind, ZoneName {
  /** What the output says of it: files write one class in several ways, and a zone that is none says what no zone does. */
  readonly says: string;
}

/** Reads the zones and panels of one load. Of a state that is not loaded whole, `covers` knows the tiles. */
function loadZones(database: DataDatabase, layer: PolygonLayer, highest: number | null) {
  const { gap_m: gap = 0, distance_m: farthest = null, states = null, outside } = layer;
  const tables = zoneTables(layer);
  const zones = readPolygons(database, layer, 'zone');
  const panels = readPolygons(database, layer, 'panel');
  const tilesByState = readTiles(database, layer);
  const isNewestFirst = typeof layer.overlaps === 'object';
  const extents = readExtents(database, layer);
  const isOfUnits = (state: string) => (extents.get(state) ?? extents.get(WHOLE_US)) === 'units';
  /** By the number of a name. */
  const kinds = zones.names.map(([code, detail]) => {
    const name = { code, subtype: detail };
    const ranked = kindOf(layer, name);
    const shown = shownClass(layer, ranked, code);
    const says = ranked.kind?.means === 'none' ? NONE : `${shown}\n${detail}`;
    return { ...name, ...ranked, says };
  });
  const selectFacts = database.prepare<[number], { geoid: string; facts: string }>(
    `SELECT geoid, facts FROM ${tables.zones} WHERE id = ?`,
  );
  const factsOf = memo((id: number) => {
    const row = selectFacts.get(id)!;
    return { study: row.geoid, ...(JSON.parse(row.facts) as StoredFacts) };
  }, KEPT_FACTS);

  function covers(location: Location, state: string): boolean {
    const tiles = tilesByState.get(state);
    return tiles === undefined || tiles(boxOfLocation(location)).length > 0;
  }

  function find(location: Location, state: string): ZoneValue | 'not_loaded' | null {
    const holders = zones.outlines.within(location, gap);
    // Another study may hold it.
    if (holders.length === 0 && isOfUnits(state)) return 'not_loaded';
    const best = mostHazardous(holders);
    if (best === null) return noneAt(location, state, holders);
    const { code, subtype, kind } = best;
    const { study, special, facts, assumed } = factsOf(zones.ids[best.index]!);
    const isOverlap = holders.some((index) => index !== best.index && differs(index, best));
    const count = holders.filter((index) => kindAt(index).kind?.means !== 'none').length;
    const isZone = kind?.means !== 'none';
    return {
      zone: shownClass(layer, best, code),
      subtype: subtype || null,
      specialArea: specialAreaOf(layer, best, special),
      facts: { ...(isZone ? facts : {}), ...(layer.count && { count }) },
      ...panelAt(location, study),
      boundaryMeters: isOverlap && farthest !== null ? 0 : metersToOther(location, best),
      ...(assumed === undefined || !isZone
        ? {}
        : { remarks: [`the unit is not stated, ${assumed} are assumed`] }),
    };
  }

  /** Null where the layer says nothing of a place without a zone. */
  function noneAt(location: Location, state: string, holders: readonly number[]): ZoneValue | null {
    if (outside !== 'none' || holders.length > 0) return null;
    if (states !== null && !states.includes(state)) return null;
    return {
      zone: NONE,
      subtype: null,
      specialArea: null,
      facts: layer.count ? { count: 0 } : {},
      panel: null,
      effective: null,
      boundaryMeters: metersToOther(location, { says: NONE }),
    };
  }

  /** Null if none was studied. */
  function mostHazardous(
    holders: readonly number[],
  ): (NamedKind & { readonly index: number }) | null {
    let best: number | null = null;
    for (const index of holders) {
      if (kindAt(index).kind?.means === 'unstudied') continue;
      if (best === null || isBefore(index, best)) best = index;
    }
    return best === null ? null : { index: best, ...kindAt(best) };
  }

  function isBefore(a: number, b: number): boolean {
    if (isNewestFirst) {
      const [newestA = '', newestB = ''] = [a, b].map(
        (index) => factsOf(zones.ids[index]!).newest ?? '',
      );
      if (newestA !== newestB) return newestA > newestB;
    }
    return isWorse(a, b);
  }

  /** Of two of a kind, the one with the higher facts: the water stands higher, or deeper. */
  function isWorse(a: number, b: number): boolean {
    const [rankA, rankB] = [kindAt(a).rank, kindAt(b).rank];
    if (rankA !== rankB) return rankA < rankB;
    const [factsA, factsB] = [a, b].map((index) => factsOf(zones.ids[index]!).facts);
    for (const [name, value] of Object.entries(factsA!)) {
      const other = factsB![name] ?? null;
      if (typeof value === 'string' || typeof other === 'string' || value === other) continue;
      return (value ?? Number.NEGATIVE_INFINITY) > (other ?? Number.NEGATIVE_INFINITY);
    }
    return false;
  }

  /** Whether a zone that holds the same place says something else of it. */
  function differs(index: number, best: NamedKind & { readonly index: number }): boolean {
    if (isOther(index, best)) return true;
    const { kind, says } = kindAt(index);
    if (kind?.means === 'unstudied' || says === NONE || isNewestFirst) return false;
    const [own, other] = [index, best.index].map((at) =>
      JSON.stringify(factsOf(zones.ids[at]!).facts),
    );
    return own !== other;
  }

  /** Whether a zone says something else; one that was not studied says nothing. */
  function isOther(index: number, best: Pick<NamedKind, 'says'>): boolean {
    const { kind, says } = kindAt(index);
    return kind?.means !== 'unstudied' && says !== best.says;
  }

  function metersToOther(location: Location, best: Pick<NamedKind, 'says'>): number | null {
    if (farthest === null) return null;
    const nearest = zones.outlines.nearestEdge(location, farthest, (index) => isOther(index, best));
    return nearest === null ? null : Math.max(1, Math.ceil(nearest.meters));
  }

  /** The panel of the zone's own study, else of another; of several the newest. */
  function panelAt(location: Location, study: string): Pick<ZoneValue, 'panel' | 'effective'> {
    const { outlines, ids, nameOf, names } = panels;
    const holding = outlines.allHolding(location).map((index) => {
      const [panel, effective] = names[nameOf[index]!]!;
      return { panel, effective, isOwn: factsOf(ids[index]!).study === study };
    });
    holding.sort(
      (a, b) => Number(b.isOwn) - Number(a.isOwn) || (a.effective < b.effective ? 1 : -1),
    );
    const [first] = holding;
    return { panel: first?.panel ?? null, effective: first?.effective || null };
  }

  function kindAt(index: number): NamedKind {
    return kinds[zones.nameOf[index]!]!;
  }

  return { highest, covers, find };
}

/** The extent of each part, by its state. */
function readExtents(
  database: DataDatabase,
  layer: PolygonLayer,
): ReadonlyMap<string, DatasetPart['extent']> {
  const { parts } = storedParts(database, zoneDatasetOf(layer), '');
  return new Map(parts.map(({ state, extent }) => [state, extent]));
}

function readTiles(
  database: DataDatabase,
  layer: PolygonLayer,
): ReadonlyMap<string, (box: Box) => number[]> {
  const rows = database
    .prepare<[], Box & { readonly geoid: string }>(
      `SELECT geoid, min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
       FROM ${zoneTables(layer).zones} WHERE kind = 'tile'`,
    )
    .all();
  const byState = Map.groupBy(rows, ({ geoid }) => stateOf(geoid));
  return new Map([...byState].map(([state, boxes]) => [state, createBoxSearch(boxes)]));
}

/** The edges are west, east, south, north. */
type BoxRow = [
  id: number,
  code: string,
  detail: string,
  ...edges: [number, number, number, number],
];

/** Reads the polygons in the order of their ids. `nameOf`: the code and the detail of each, by their number in `names`. */
function readPolygons(database: DataDatabase, layer: PolygonLayer, kind: 'zone' | 'panel') {
  const tables = zoneTables(layer);
  const length = database
    .prepare<[string], number>(`SELECT count(*) FROM ${tables.zones} WHERE kind = ?`)
    .pluck()
    .get(kind)!;
  const rows = database
    .prepare<[string], BoxRow>(
      `SELECT id, code, detail, min_lng, max_lng, min_lat, max_lat FROM ${tables.zones} WHERE kind = ? ORDER BY id`,
    )
    .raw();
  const ids = new Float64Array(length);
  const nameOf = new Uint32Array(length);
  const names: (readonly [string, string])[] = [];
  const numbers = new Map<string, number>();
  function* boxes(): Generator<Box> {
    let index = 0;
    for (const [id, code, detail, minLng, maxLng, minLat, maxLat] of rows.iterate(kind)) {
      const key = `${code}\n${detail}`;
      const number = numbers.get(key) ?? names.push([code, detail]) - 1;
      numbers.set(key, number);
      ids[index] = id;
      nameOf[index] = number;
      index += 1;
      yield { minLng, maxLng, minLat, maxLat };
    }
  }
  const outline = database
    .prepare<[number], Buffer>(`SELECT outline FROM ${tables.outlines} WHERE id = ?`)
    .pluck();
  const ringsOf = (index: number) => ringsOfBytes(outline.get(ids[index]!)!);
  const outlines = new OutlineIndex(
    { length, [Symbol.iterator]: boxes },
    ringsOf,
    MOST_VALUES[kind],
  );
  return { outlines, ids, nameOf, names };
}
