import { FLOOD_ZONES } from './flood-zones.ts';

export const ZONE_LAYERS = { floodZones: FLOOD_ZONES };

export type ZoneDataset = keyof typeof ZONE_LAYERS;

/** The tables of a layer: the zones and panels, and their outlines. Migrations make them. */
export const ZONE_TABLES: Readonly<Record<ZoneDataset, { readonly zones: string; readonly outlines: string }>> = {
  floodZones: { zones: 'flood_zones', outlines: 'flood_zone_outlines' },
};

/** Whether a dataset is a layer of zones. */
export function isZoneDataset(name: string): name is ZoneDataset {
  return Object.hasOwn(ZONE_LAYERS, name);
}
