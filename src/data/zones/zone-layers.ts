import type { ZoneLayer } from './zone-layer.ts';

const FEET_PER_METER = 1 / 0.3048;

/** V, VE and the old V1 to V30. */
const COASTAL = /^V(E|[1-9]|[12]\d|30)?$/;
/** A, A99, AE, AH, AO and the old A1 to A30, AR and its dual zones. "AREA NOT INCLUDED" begins with A, too. */
const SHADED = /^A(E|H|O|99|[1-9]|[12]\d|30|R(\/(AE?|AH|AO|A([1-9]|[12]\d|30)))?)?$/;
const X = /^X$/;

/** FEMA's National Flood Hazard Layer (NFHL): the zones of the Flood Insurance Rate Maps (FIRM Database Technical Reference, D_Zone and
 * D_Zone_Subtype). Special areas are the Special Flood Hazard Areas, with a chance of flood of 1 % a year or more. */
export const FLOOD_ZONES: ZoneLayer = {
  topic: 'floodZone',
  zones: {
    study: 'DFIRM_ID',
    code: 'FLD_ZONE',
    subtype: 'ZONE_SUBTY',
    special: { field: 'SFHA_TF', yes: 'T', no: 'F' },
    facts: {
      baseElevationFt: { as: 'number', field: 'STATIC_BFE', unit: 'LEN_UNIT' },
      baseElevationDatum: { as: 'text', field: 'V_DATUM', beside: 'baseElevationFt' },
      depthFt: { as: 'number', field: 'DEPTH', unit: 'LEN_UNIT' },
    },
  },
  panels: { study: 'DFIRM_ID', code: 'FIRM_PAN', effective: 'EFF_DATE' },
  none: [-9999, -8888],
  units: {
    feet: 1,
    foot: 1,
    ft: 1,
    'us survey feet': 1,
    meters: FEET_PER_METER,
    meter: FEET_PER_METER,
    m: FEET_PER_METER,
  },
  subtypes: {
    '0100': 'COASTAL FLOODPLAIN',
    '0110': 'RIVERINE FLOODPLAIN IN COASTAL ZONE',
    '0120': 'COMBINED RIVERINE AND COASTAL FLOODPLAIN',
    '0200': '1 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN STRUCTURE',
    '0210': '1 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN CHANNEL',
    '0300': '1 PCT FUTURE CONDITIONS',
    '0310': '1 PCT FUTURE CONDITIONS CONTAINED IN STRUCTURE',
    '0400': '1 PCT DEPTH LESS THAN 1 FOOT',
    '0410': '1 PCT DRAINAGE AREA LESS THAN 1 SQUARE MILE',
    '0500': '0.2 PCT ANNUAL CHANCE FLOOD HAZARD',
    '0510': '0.2 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN STRUCTURE',
    '0520': '0.2 PCT ANNUAL CHANCE FLOOD HAZARD CONTAINED IN CHANNEL',
    '0530': '0.2 PCT ANNUAL CHANCE FLOOD HAZARD IN COASTAL ZONE',
    '0540': '0.2 PCT ANNUAL CHANCE FLOOD HAZARD IN COMBINED RIVERINE AND COASTAL ZONE',
    '1010': 'ADMINISTRATIVE FLOODWAY',
    '1020': 'AREA OF SPECIAL CONSIDERATION',
    '1030': 'COMMUNITY ENCROACHMENT AREA',
    '1040': 'COLORADO RIVER FLOODWAY',
    '1050': 'DENSITY FRINGE AREA',
    '1100': 'FLOODWAY',
    '1110': 'FLOODWAY CONTAINED IN STRUCTURE',
    '1120': 'FLOODWAY CONTAINED IN CHANNEL',
    '1200': 'FLOWAGE EASEMENT AREA',
    '1210': 'STATE ENCROACHMENT AREA',
    '1220': 'RIVERINE FLOODWAY SHOWN IN COASTAL ZONE',
    '1230': 'NARROW FLOODWAY',
    '1240': 'RIVERINE FLOODWAY IN COMBINED RIVERINE AND COASTAL ZONE',
    '2000': 'AREA OF MINIMAL FLOOD HAZARD',
    '3000': 'AREA WITH FLOOD HAZARD DUE TO NON-ACCREDITED LEVEE SYSTEM',
    '3010': 'AREA WITH REDUCED FLOOD HAZARD DUE TO PROVISIONALLY ACCREDITED LEVEE SYSTEM',
    '3020': 'AREA WITH UNDETERMINED FLOOD HAZARD DUE TO NON-ACCREDITED LEVEE SYSTEM',
    '3030': 'AREA WITH REDUCED FLOOD HAZARD DUE TO ACCREDITED LEVEE SYSTEM',
  },
  kinds: [
    { code: COASTAL, special: true },
    {
      code: SHADED,
      subtype: /FLOODWAY|ENCROACHMENT|SPECIAL CONSIDERATION|DENSITY FRINGE|FLOWAGE EASEMENT/,
      special: true,
    },
    { code: /^A(E|[1-9]|[12]\d|30)$/, special: true },
    { code: /^A[OH]$/, special: true },
    { code: /^A$/, special: true },
    { code: SHADED, special: true },
    // Zones X from here on; the code alone says little.
    { code: X, subtype: /UNDETERMINED/, special: null },
    { code: X, subtype: /\bFUTURE\b/, special: false },
    { code: X, subtype: /^1 ?(PCT|PERCENT|%)/, special: false },
    { code: X, subtype: /^0?\.2 ?(PCT|PERCENT|%)|NON-ACCREDITED LEVEE/, special: false },
    { code: /^(B|X500)$/, special: false },
    { code: X, subtype: /LEVEE/, special: false },
    { code: /^D$/, special: null },
    // Of other words it is not known that they mean little.
    { code: X, subtype: /^(?!.*MINIMAL)./, special: false },
    { code: /^(X|C)$/, special: false },
    { code: /^OPEN WATER$/, special: null },
    { code: /^(AREA NOT INCLUDED|NP)$/, special: null, isUnstudied: true },
  ],
  // After the zones A.
  unknownCodesFrom: 6,
};

export const ZONE_LAYERS = { floodZones: FLOOD_ZONES };

export type ZoneDataset = keyof typeof ZONE_LAYERS;

/** The tables of a layer: the zones and panels, and their outlines. Migrations make them. */
export const ZONE_TABLES: Readonly<
  Record<ZoneDataset, { readonly zones: string; readonly outlines: string }>
> = {
  floodZones: { zones: 'flood_zones', outlines: 'flood_zone_outlines' },
};

/** Whether a dataset is a layer of zones. */
export function isZoneDataset(name: string): name is ZoneDataset {
  return Object.hasOwn(ZONE_LAYERS, name);
}
