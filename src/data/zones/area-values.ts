import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import type { ZoneValue } from '../../contract/topic-values.ts';
import { CODE_DIGITS, countiesServedBy } from '../tables/area-codes.ts';
import type { Area } from '../tables/area-finder.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import { stateOf } from '../tables/states.ts';
import { kindOf, type RankedKind, type StoredFacts, shownClass } from './zone-layer.ts';
import { zoneTables } from './zone-layers.ts';

interface RankedRow extends RankedKind {
  readonly code: string;
  readonly facts: StoredFacts['facts'];
}

/** Makes the function that finds what a layer says of an area, by its code: of several rows the most hazardous. Null where it says nothing.
 * The layer must be loaded. */
export function createCodeValues(
  database: DataDatabase,
  versionOf: DataVersion,
  layer: PolygonLayer,
): (code: string) => ZoneValue | null {
  const { outside, states = null } = layer;
  const rows = database.prepare<[], { readonly code: string; readonly facts: string }>(
    `SELECT code, facts FROM ${zoneTables(layer).zones} WHERE kind = 'zone'`,
  );
  const byArea = oncePerVersion(versionOf, () => {
    const worst = new Map<string, RankedRow>();
    for (const { code, facts } of rows.iterate()) {
      const ranked = kindOf(layer, { code, subtype: '' });
      const { area = '', facts: own } = JSON.parse(facts) as StoredFacts;
      const before = worst.get(area);
      if (before === undefined || ranked.rank < before.rank)
        worst.set(area, { ...ranked, code, facts: own });
    }
    return worst;
  });
  /** The row of an area; of a county whose code was replaced, the most hazardous of those that followed it. */
  const rowOf = (code: string): RankedRow | undefined =>
    byArea().get(code) ??
    (layer.area?.level === 'county' ? countiesServedBy(code) : [])
      .flatMap((served) => byArea().get(served) ?? [])
      .sort((a, b) => a.rank - b.rank)[0];
  return (code) => {
    const row = rowOf(code);
    if (row !== undefined) {
      const means = row.kind?.means ?? 'zone';
      if (means === 'unstudied') return null;
      const isZone = means !== 'none';
      return { ...NOTHING, zone: shownClass(layer, row, row.code), facts: isZone ? row.facts : {} };
    }
    const isCovered = states === null || states.includes(stateOf(code));
    return outside === 'none' && isCovered ? { ...NOTHING, zone: 'none' } : null;
  };
}

/** Makes the function that finds what a layer says of the county or the tract of a place. Null where it says nothing: a location does not
 * tell its ZIP code. The layer must be loaded. */
export function createAreaValues(
  database: DataDatabase,
  versionOf: DataVersion,
  layer: PolygonLayer,
): (area: Area) => ZoneValue | 'no_tracts' | null {
  const ofCode = createCodeValues(database, versionOf, layer);
  return ({ geoid, county }) => {
    switch (layer.area!.level) {
      case 'tract':
        return geoid.length === CODE_DIGITS.tract ? ofCode(geoid) : 'no_tracts';
      case 'county':
        return ofCode(county);
      case 'zip':
        return null;
    }
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
