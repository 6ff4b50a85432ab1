import type { PolygonLayer } from './layer-description.ts';

/** The units of the Coastal Barrier Resources System, where federal flood insurance is not sold for new buildings. Within 20 feet of a line
 * an official determination is needed: the note tells distances up to 7 m. */
export const COASTAL_BARRIERS = {
  layer: 'coastal_barrier',
  title: 'Coastal Barrier Resources System',
  publisher: 'US Fish and Wildlife Service',
  licence:
    'U.S. Fish and Wildlife Service, Coastal Barrier Resources System: a work of the US government, in the public domain.',
  published: { cadence: 'as Congress changes the maps', stale_after_days: 90 },
  class: { from: ['Unit_Type'], show: 'class' },
  classes: [{ name: 'System Unit' }, { name: 'Otherwise Protected Area' }],
  outside: 'none',
  distance_m: 100,
  noted_m: 7,
  columns: { unit: { from: ['Unit'], type: 'text' } },
  sources: [
    {
      url: 'https://gis1.wim.usgs.gov/server/rest/services/CBRSMapper/CoastalBarrierResourcesSystem/MapServer/3',
    },
  ],
} as const satisfies PolygonLayer;
