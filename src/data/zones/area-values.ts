import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import type { ZoneValue } from '../../contract/topic-values.ts';
import type { Area } from '../tables/area-finder.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { stateOf } from '../tables/states.ts';
import { kindOf, type RankedKind, type StoredFacts, shownClass } from './zone-layer.ts';
import { zoneTables } from './zone-layers.ts';

/** A tract has eleven digits, a county five. */
const TRACT_DIGITS = 11;

interface RankedRow extends RankedKind {
  readonly code: string;
  readonly facts: StoredFacts['facts'];
}

/** Makes the function that finds what a layer says of the county or the tract of a place: of several rows the most hazardous. Null where it
 * says nothing. The layer must be loaded. */
export function createAreaValues(
  database: DataDatabase,
  versionOf: DataVersion,
  layer: PolygonLayer,
): (area: Area) => ZoneValue | 'no_tracts' | null {
  const { outside, states = null } = layer;
  const rows = database.prepare<[], { readonly code: string; readonly facts: string }>(
    `SELECT code, facts FROM ${zoneTables(layer).zones} WHERE kind = 'zone'`,
  );
  const byArea = oncePerVersion(versionOf, () => {
    const worst = new Map<string, RankedRow>();
    for (const { code, facts } of rows.iterate()) {
      const ranked = kindOf(layer, { code, subtype: '' });
      if (ranked.kind?.means === 'unstudied') continue;
      const { area = '', facts: own } = JSON.parse(facts) as StoredFacts;
      const before = worst.get(area);
      if (before === undefined || ranked.rank < before.rank)
        worst.set(area, { ...ranked, code, facts: own });
    }
    return worst;
  });
  return ({ geoid, county }) => {
    const isOfTracts = layer.area?.level === 'tract';
    if (isOfTracts && geoid.length !== TRACT_DIGITS) return 'no_tracts';
    const row = byArea().get(isOfTracts ? geoid : county);
    if (row !== undefined) {
      const isZone = row.kind?.means !== 'none';
      return { ...NOTHING, zone: shownClass(layer, row, row.code), facts: isZone ? row.facts : {} };
    }
    const isCovered = states === null || states.includes(stateOf(county));
    return outside === 'none' && isCovered ? { ...NOTHING, zone: 'none' } : null;
  };
}

/** What only polygons have. */
const NOTHING = {
  subtype: null,
  specialArea: null,
  facts: {},
  panel: null,
  effective: null,
  boundaryMeters: null,
} as const;
