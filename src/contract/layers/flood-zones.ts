import type { PolygonLayer } from './layer-description.ts';

const FEET_PER_METER = 1 / 0.3048;

/** A, A99, AE, AH, AO and the old A1 to A30, AR and its dual zones. "AREA NOT INCLUDED" begins with A, too. */
const SHADED = 'A(E|H|O|99|[1-9]|[12]\\d|30|R(\\/(AE?|AH|AO|A([1-9]|[12]\\d|30)))?)?';

const HEIGHT = {
  type: 'number',
  unit: {
    from: ['LEN_UNIT'],
    factors: {
      feet: 1,
      foot: 1,
      ft: 1,
      'us survey feet': 1,
      meters: FEET_PER_METER,
      meter: FEET_PER_METER,
      m: FEET_PER_METER,
    },
    // As FEMA's own label of these fields has it.
    assumed: 'feet',
  },
  // No place of the US is lower or higher.
  least: -300,
  most: 30_000,
} as const;

/** FEMA's National Flood Hazard Layer (NFHL): the zones of the Flood Insurance Rate Maps (FIRM Database Technical Reference, D_Zone and
 * D_Zone_Subtype). Special areas are the Special Flood Hazard Areas, with a chance of flood of 1 % a year or more. */
export const FLOOD_ZONES = {
  layer: 'floodZone',
  title: 'Flood Zone',
  publisher: 'FEMA National Flood Hazard Layer',
  licence:
    'Federal Emergency Management Agency (FEMA), National Flood Hazard Layer: a work of the US government, in the public domain.',
  // The zones themselves are not dated.
  vintage: { from: ['EFF_DATE'], as: 'day' },
  class: {
    from: ['FLD_ZONE'],
    show: 'published',
    detail: ['ZONE_SUBTY'],
    detail_words: {
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
    special: { from: ['SFHA_TF'], yes: ['T'], no: ['F'], open: ['U'] },
  },
  classes: [
    // V, VE and the old V1 to V30.
    { name: 'V', match: 'V(E|[1-9]|[12]\\d|30)?', special: true },
    {
      name: 'floodway',
      match: SHADED,
      detail: 'FLOODWAY|ENCROACHMENT|SPECIAL CONSIDERATION|DENSITY FRINGE|FLOWAGE EASEMENT',
      special: true,
    },
    { name: 'AE', match: 'A(E|[1-9]|[12]\\d|30)', special: true },
    { name: 'AO, AH', match: 'A[OH]', special: true },
    { name: 'A', match: 'A', special: true },
    { name: 'other A', match: SHADED, special: true },
    // Zones X from here on; the code alone says little.
    { name: 'X, undetermined', match: 'X', detail: 'UNDETERMINED', special: null },
    { name: 'X, future', match: 'X', detail: '\\bFUTURE\\b', special: false },
    { name: 'X, 1 %', match: 'X', detail: '^1 ?(PCT|PERCENT|%)', special: false },
    {
      name: 'X, 0.2 %',
      match: 'X',
      detail: '^0?\\.2 ?(PCT|PERCENT|%)|NON-ACCREDITED LEVEE',
      special: false,
    },
    { name: 'B', match: 'B|X500', special: false },
    { name: 'X, levee', match: 'X', detail: 'LEVEE', special: false },
    { name: 'D', match: 'D', special: null },
    // Of other words it is not known that they mean little.
    { name: 'X, other', match: 'X', detail: '^(?!.*MINIMAL).', special: false },
    { name: 'X', match: 'X|C', special: false },
    { name: 'open water', match: 'OPEN WATER', special: null },
  ],
  not_studied: ['AREA NOT INCLUDED', 'NP'],
  unknown_class: { after: 'other A' },
  outside: 'unknown',
  outside_note: 'no study in the data covers this place, so it is unknown, not safe',
  // Outlines are simplified one by one, to about a metre.
  gap_m: 1,
  distance_m: 100,
  // FEMA draws its lines to some 12 m, and a cell is up to 8 m off its place.
  noted_m: 20,
  nothing: ['-8888', '8888'],
  columns: {
    baseElevationFt: { from: ['STATIC_BFE'], ...HEIGHT },
    baseElevationDatum: { from: ['V_DATUM'], type: 'text', beside: 'baseElevationFt' },
    depthFt: { from: ['DEPTH'], ...HEIGHT },
  },
  study: ['DFIRM_ID'],
  sheets: { code: ['FIRM_PAN'], effective: ['EFF_DATE'], preliminary: ['PRE_DATE'] },
} as const satisfies PolygonLayer;
