import { keyOf } from './agency-table.ts';
import type { FileProfile, FileShape } from './file-profile.ts';

/** How a loader recognizes its files. */
export interface FileSignature {
  /** The file has a column with one of the names of each list. */
  readonly columns?: readonly (readonly string[])[];
  /** One column has such a name (normalized by `keyOf`); `of` describes the column. */
  readonly like?: { readonly of: string; readonly names: RegExp };
  /** The geometries that it may have; it has at least one of them. */
  readonly shapes?: readonly FileShape[];
  /** A test of its first rows, when columns do not decide; `are` describes them. */
  readonly rows?: { readonly are: string; readonly test: (rows: FileProfile['rows']) => boolean };
  /** Accepts what no other loader recognizes. */
  readonly anyOther?: true;
}

/** The columns of EPA's Facility Registry Service with a row's programs; its files have one or the other. */
const FRS = ['PGM_SYS_ACRNMS', 'PGM_SYS_ACRNM'];
const CENSUS_CODE = ['GEOID', 'GEOID20', 'GEOID10', 'AFFGEOID', 'GEO_ID', 'FIPS'];
const FIRE = ['IncidentName', 'attr_IncidentName', 'IrwinID', 'attr_IrwinID'];
const POINTS: readonly FileShape[] = ['points'];
const OUTLINES: readonly FileShape[] = ['outlines'];
const PLACES: readonly FileShape[] = ['points', 'outlines'];

/** The Storm Prediction Center's files of tornadoes, hail and wind have the same columns; the oldest have no header. */
function reports(
  test: (segment: string, magnitude: number) => boolean,
  every: boolean,
): (rows: FileProfile['rows']) => boolean {
  return (rows) => {
    const own = rows.filter((cells) => cells.length >= 24 && /^\d{4}$/.test(cells[1]!.trim()) && /\d/.test(cells[4]!));
    const fits = own.filter((cells) => test(cells[23]!.trim(), Number(cells[10])));
    return own.length > 0 && (every ? fits.length === own.length : fits.length > 0);
  };
}

/** The largest hail on record is 8 inches; wind is in knots. */
const isHail = (segment: string, magnitude: number) => segment === '0' && magnitude <= 15;
const isTornado = (segment: string) => segment !== '0';
const startsWith = (pattern: RegExp, fields: number) => (rows: FileProfile['rows']) =>
  rows.some((cells) => cells.length >= fields && pattern.test(cells[0]!.trim()));

/** By loader name. */
export const SIGNATURES: Readonly<Record<string, FileSignature>> = {
  areas: { columns: [[...CENSUS_CODE, 'TRACTCE', 'TRACTCE20']], shapes: OUTLINES },
  counties: { columns: [[...CENSUS_CODE, 'COUNTYFP', 'COUNTYFP20', 'CNTY_FIPS']], shapes: OUTLINES },
  nri: {
    columns: [
      ['STCOFIPS', 'TRACTFIPS'],
      ['NRI_ID', 'NRI_VER', 'RISK_RATNG', 'HAIL_RISKR', 'DRGT_RISKR'],
    ],
  },
  brownfield: {
    columns: [[...FRS, 'ACRES_PROPERTY_ID', 'PGM_SYS_ID', 'Cooperative Agreement Number']],
    shapes: PLACES,
  },
  frs: { columns: [FRS], shapes: POINTS },
  superfund: {
    columns: [[...FRS, 'EPA_ID', 'SITE_EPA_ID', 'NPL_STATUS', 'NPL_STATUS_CODE', 'SEMS_ID']],
    shapes: PLACES,
  },
  tri: { columns: [[...FRS, 'TRI_FACILITY_ID', 'TRIFD']], shapes: POINTS },
  lmop: { columns: [['Landfill ID', 'Landfill Name']], shapes: POINTS },
  'ust-facilities': { columns: [['Open_USTs', 'Closed_USTs', 'TOS_USTs']], shapes: POINTS },
  'ust-releases': { columns: [['LUST_ID', 'Substance', 'Reported_Date']], shapes: POINTS },
  'power-plants': { columns: [['Plant_Code', 'PrimSource', 'PRIM_FUEL', 'Total_MW', 'OPER_CAP']], shapes: PLACES },
  'nuclear-reactors': {
    like: {
      of: 'a reactor (docket, reactor, fuel)',
      names: /docket|reactor|nuclear|^nrc|^prim(source|fuel)$|^plantcode$/,
    },
    shapes: PLACES,
  },
  'transmission-lines': { columns: [['VOLTAGE', 'VOLT_CLASS']], shapes: ['lines'] },
  'cell-towers': { columns: [['Licensee', 'Callsign', 'LocNum', 'StrucType', 'TowReg', 'UniqSysID']], shapes: POINTS },
  'gas-pipelines': { columns: [['TYPEPIPE', 'Operator']], shapes: ['lines'] },
  'alternative-fuels': { columns: [['Fuel_Type_Code'], ['Station_Name', 'ID']], shapes: POINTS },
  parks: { anyOther: true, shapes: PLACES },
  wells: { like: { of: 'a well (API, UWI, well, lease)', names: /^(api|uwi|spud|lease|well)/ }, shapes: POINTS },
  earthquakes: { columns: [['mag']], shapes: POINTS },
  hail: { rows: { are: 'reports of hail', test: reports(isHail, true) } },
  tornado: { rows: { are: 'reports of tornadoes', test: reports(isTornado, false) } },
  hurdat2: { rows: { are: 'headers of storms', test: startsWith(/^[A-Z]{2}\d{6}$/, 3) } },
  ibtracs: { columns: [['SID'], ['ISO_TIME'], ['LAT'], ['LON']] },
  'wildfire-incidents': { columns: [FIRE], shapes: POINTS },
  'wildfire-history': { columns: [FIRE], shapes: POINTS },
  'wildfire-perimeters': {
    columns: [[...FIRE, 'poly_IncidentName', 'INCIDENT', 'UNQE_FIRE_ID', 'FIRE_YEAR', 'poly_GISAcres']],
    shapes: OUTLINES,
  },
  'air-quality': { columns: [['Days with AQI'], ['State'], ['County']] },
  airnow: { rows: { are: 'hours of AirNow', test: startsWith(/^\d{2}\/\d{2}\/\d{2}$/, 9) } },
  radon: {
    columns: [
      ['RadonZone', 'Radon Zone', 'Zone'],
      ['CountyFIPS', 'FIPS', 'GEOID', 'County,State', 'County', 'CountyName'],
    ],
  },
};

/** Why a file is not one of the loader's; null when it is. */
export function mismatch(loader: string, profile: FileProfile): string | null {
  const { columns = [], like, shapes, rows, anyOther } = SIGNATURES[loader]!;
  const has = (name: string) => {
    const key = keyOf(name);
    return profile.columns.has(key) || profile.cut.some((start) => key.startsWith(start));
  };
  const missing = columns.find((names) => !names.some(has));
  if (missing !== undefined) return `it has no column ${missing.slice(0, 6).join(' or ')}`;
  if (like !== undefined && ![...profile.columns].some((name) => like.names.test(name))) {
    return `it has no column of ${like.of}`;
  }
  if (rows !== undefined && !rows.test(profile.rows)) return `its rows are not ${rows.are}`;
  const problem = shapes === undefined ? null : otherShapes(shapes, profile);
  if (problem !== null) return problem;
  const others = anyOther === true ? loadersFor(profile) : [];
  return others.length > 0 ? `it is a file for ${others.join(' or ')}` : null;
}

function otherShapes(wanted: readonly FileShape[], { shapes, rows }: FileProfile): string | null {
  if (wanted.some((shape) => shapes.has(shape))) return null;
  if (shapes.size > 0) return `its features are ${[...shapes].join(' and ')}, not ${wanted.join(' or ')}`;
  return rows.length > 0 && wanted.includes('points')
    ? 'it has no known latitude column (name the columns with --lat and --lng)'
    : `it has no ${wanted.join(' or ')}`;
}

/** The loaders that recognize a file. */
export function loadersFor(profile: FileProfile): string[] {
  return Object.keys(SIGNATURES).filter(
    (name) => SIGNATURES[name]!.anyOther === undefined && mismatch(name, profile) === null,
  );
}
