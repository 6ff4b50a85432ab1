import type { PolygonLayer } from './layer-description.ts';

const SERVICES = 'https://services1.arcgis.com/jUJYIo9tSA7EHvfZ/arcgis/rest/services';

/** California's fire hazard severity zones: state responsibility areas (in force since 2024-04-01) and local ones (as recommended in 2025). In
 * local areas NonWildland is drawn, too; federal land is not mapped, so a place without a polygon is unknown. */
export const CA_FIRE_ZONES = {
  layer: 'ca_fire_zone',
  title: 'California Fire Hazard Severity Zone',
  publisher: 'CAL FIRE, Office of the State Fire Marshal',
  licence:
    'California Department of Forestry and Fire Protection (CAL FIRE), Fire Hazard Severity Zones.',
  published: { cadence: 'every few years', stale_after_days: 90 },
  states: ['CA'],
  class: { from: ['FHSZ_Description', 'FHSZ_Descr', 'FHSZ'], show: 'class' },
  classes: [
    { name: 'Very High', values: ['Very High', '3'] },
    { name: 'High', values: ['High', '2'] },
    { name: 'Moderate', values: ['Moderate', '1'] },
  ],
  none: ['NonWildland', 'Non-Wildland', '-3'],
  outside: 'unknown',
  outside_note:
    'no fire hazard severity zone is drawn here, as on federal land, so it is unknown, not safe',
  distance_m: 100,
  columns: { responsibility: { from: ['SRA'], type: 'text' } },
  sources: [
    { url: `${SERVICES}/FHSZSRA_23_3/FeatureServer/0`, set: { SRA: 'state' } },
    { url: `${SERVICES}/FHSALRA25_v1_All/FeatureServer/0`, set: { SRA: 'local' } },
  ],
} as const satisfies PolygonLayer;
