import type { ProximitySlug } from '../../contract/topics.ts';
import { propertyFinder } from './agency-table.ts';
import { ASR_FILES, antennaStructures } from './antenna-structures.ts';
import { type FeatureFormat, featureLoader } from './feature-loader.ts';
import type { FileFeature } from './file-feature.ts';
import { type Loader, publicDomain } from './loader.ts';

const EPA = publicDomain('US Environmental Protection Agency');
const EIA_NAME = 'US Energy Information Administration';
const EIA = publicDomain(EIA_NAME);
const HIFLD = publicDomain('US Department of Homeland Security, HIFLD');
const FCC = publicDomain('Federal Communications Commission');
const AFDC = publicDomain('US Department of Energy, Alternative Fuels Data Center');

const EIA_PERIOD = { names: ['Period'], as: 'month' } as const;

/** In which the generators of a plant differ. */
const GENERATOR_COLUMNS =
  'Generator ID,Technology,Energy Source Code,Nameplate Capacity (MW),Status,Operating Year'.split(
    ',',
  );

/** `august_generator2026.xlsx` is of August 2026. */
function monthOfName(name: string): string {
  const [, month, year] = /^([a-z]+)_generator(20\d\d)\.xlsx$/i.exec(name) ?? [];
  return month === undefined
    ? ''
    : `${month[0]!.toUpperCase()}${month.slice(1).toLowerCase()} ${year}`;
}

/** EIA's codes of a generator's status that is not of an operating one: planned, under construction, retired, cancelled, postponed. Each sheet
 * may be saved alone. */
const NOT_OPERATING = /^\((P|L|T|U|V|TS|OT|RE|CN|IP)\)/;

function notOperating(properties: FileFeature['properties']): string | null {
  const status = String(properties.Status ?? '').trim();
  return NOT_OPERATING.test(status) ? `the generator does not operate: ${status}` : null;
}

/** The columns of EPA's Facility Registry Service with a row's programs; its files have one or the other. */
const FRS = ['PGM_SYS_ACRNMS', 'PGM_SYS_ACRNM'];

/** The Facility Registry Service lists the facilities of all programs. `ACRES:12345, TRIS:90001ABC` names a row's
 * programs; EPA's layers have a row per program and `ACRES` in a column without the S. */
function ofProgram(acronym: string): (properties: FileFeature['properties']) => string | null {
  return (properties) => {
    const of = (name: string) => properties[name] ?? properties[name.toLowerCase()];
    const [programs, program] = [of('PGM_SYS_ACRNMS'), of('PGM_SYS_ACRNM')];
    if (programs === undefined && program === undefined && of('REGISTRY_ID') === undefined)
      return null;
    const isMember = program === acronym || String(programs ?? '').includes(`${acronym}:`);
    return isMember ? null : `the facility is not in EPA's program ${acronym}`;
  };
}

const NPL_STATUSES = propertyFinder(['NPL_STATUS_CODE', 'NPL_STATUS', 'Status']);

/** EPA's statuses of sites that are not on the National Priorities List, in words or as a code: deleted, proposed, removed, withdrawn, not on it
 * (Superfund Enterprise Management System). The final sites and the parts of such sites are on it. */
const NOT_LISTED: readonly (readonly [RegExp, string])[] = [
  [/^D$|\bdeleted\b/i, 'it was deleted from the National Priorities List'],
  [/^[PS]$|\bpropos(ed|al)\b/i, 'it is proposed for the National Priorities List, not on it'],
  [
    /^[NORW]$|\bnot on\b|\bnot (an? )?NPL\b|\bnon-?NPL\b|\bremoved\b|\bwithdrawn\b|\bnot valid\b/i,
    'it is not on the National Priorities List',
  ],
];

/** Why a site is not on the list; null for one that is, and for a file of listed sites, which has no status. */
function notListed(properties: FileFeature['properties']): string | null {
  const name = NPL_STATUSES(properties);
  const status = name === null ? '' : String(properties[name] ?? '').trim();
  return NOT_LISTED.find(([pattern]) => pattern.test(status))?.[1] ?? null;
}

/** EIA has `PrimSource` "nuclear", HIFLD `PRIM_FUEL` "NUC"; copies differ in case. A list with neither column has only reactors. */
function otherThanNuclear(properties: FileFeature['properties']): string | null {
  const name = Object.keys(properties).find((column) => /^prim_?(source|fuel)$/i.test(column));
  return name === undefined || /^nuc/i.test(String(properties[name]))
    ? null
    : 'the plant is not nuclear';
}

function siteLoader(
  topic: ProximitySlug,
  source: string,
  licence: string,
  form: Omit<FeatureFormat, 'source' | 'licence'>,
): Loader {
  return featureLoader(`sites:${topic}`, { ...form, source, licence });
}

/** The loaders of downloads whose rows are sites. Radii: topics/coverage.ts. */
export const SITE_LOADERS = {
  brownfield: siteLoader('brownfield', 'EPA ACRES brownfields', EPA, {
    describe:
      'EPA ACRES brownfields, or the FRS national file (rows of ACRES); CSV, GeoJSON, shapefile',
    signature: {
      columns: [[...FRS, 'ACRES_PROPERTY_ID', 'PGM_SYS_ID', 'Cooperative Agreement Number']],
      shapes: ['points', 'outlines'],
    },
    refuse: ofProgram('ACRES'),
  }),
  frs: siteLoader('brownfield', 'EPA Facility Registry Service, program ACRES', EPA, {
    describe:
      'EPA Facility Registry Service, national file (CSV): the brownfields in it (program ACRES)',
    signature: { columns: [FRS], shapes: ['points'] },
    refuse: ofProgram('ACRES'),
  }),
  superfund: siteLoader('superfund', 'EPA Superfund National Priorities List', EPA, {
    describe: 'EPA Superfund NPL sites: list (CSV), site boundaries, or the FRS file',
    signature: {
      columns: [
        [...FRS, 'EPA_ID', 'SITE_EPA_ID', 'epa_siteID', 'NPL_STATUS', 'NPL_STATUS_CODE', 'SEMS_ID'],
      ],
      shapes: ['points', 'outlines'],
    },
    id: ['SITE_EPA_ID', 'EPA_ID', 'epa_siteID'],
    refuse: (properties) => ofProgram('SEMS')(properties) ?? notListed(properties),
  }),
  tri: siteLoader('toxicReleaseInventory', 'EPA Toxics Release Inventory', EPA, {
    describe:
      'EPA Toxics Release Inventory, basic data file (CSV): one facility of all its chemicals',
    signature: { columns: [[...FRS, 'TRI_FACILITY_ID', 'TRIFD']], shapes: ['points'] },
    refuse: ofProgram('TRIS'),
    csv: { hasPlainQuotes: true },
    group: { id: ['TRI_FACILITY_ID', 'TRIFD'], lists: ['CHEMICAL'] },
    vintage: { names: ['YEAR', 'REPORTING_YEAR'], as: 'year' },
  }),
  lmop: siteLoader('solidWasteLandfill', 'EPA Landfill Methane Outreach Program', EPA, {
    describe:
      'EPA LMOP landfills, sheet "LMOP Database" (.xlsx, or saved as CSV): one landfill of all its projects',
    signature: { columns: [['Landfill ID', 'Landfill Name']], shapes: ['points'] },
    group: { id: ['Landfill ID'], lists: ['Project ID', 'Project Name'] },
  }),
  'ust-facilities': siteLoader('ustFacility', 'EPA UST Finder, facilities', EPA, {
    describe: 'EPA UST Finder, facilities (layer 0): CSV, GeoJSON, shapefile',
    signature: { columns: [['Open_USTs', 'Closed_USTs', 'TOS_USTs']], shapes: ['points'] },
    id: ['Facility_ID'],
  }),
  'ust-releases': siteLoader('ustRelease', 'EPA UST Finder, releases', EPA, {
    describe: 'EPA UST Finder, releases (layer 1): CSV, GeoJSON, shapefile',
    // A list of other spills has one of the two.
    signature: {
      columns: [
        ['LUST_ID', 'Substance'],
        ['LUST_ID', 'Reported_Date'],
      ],
      shapes: ['points'],
    },
    id: ['LUST_ID'],
  }),
  'power-plants': siteLoader('powerPlant', `${EIA_NAME}, power plants`, EIA, {
    describe:
      "EIA's monthly generators (EIA-860M, .xlsx): one plant of all its generators; or HIFLD or EIA power plants",
    signature: {
      columns: [['Plant_Code', 'Plant_ID', 'PrimSource', 'PRIM_FUEL', 'Total_MW', 'OPER_CAP']],
      shapes: ['points', 'outlines'],
    },
    key: 'Plant_Code',
    refuse: notOperating,
    group: { id: ['Plant_ID'], lists: GENERATOR_COLUMNS },
    vintage: EIA_PERIOD,
    vintageOfName: monthOfName,
  }),
  'nuclear-reactors': siteLoader('nuclearReactors', `${EIA_NAME}, nuclear plants`, EIA, {
    describe:
      'Nuclear plants: HIFLD or EIA power plants (those whose source is nuclear), or any list of reactors',
    signature: {
      like: {
        of: 'a reactor (docket, reactor, fuel)',
        names: /docket|reactor|nuclear|^nrc|^prim(source|fuel)$|^plantcode$/,
      },
      shapes: ['points', 'outlines'],
    },
    refuse: otherThanNuclear,
    vintage: EIA_PERIOD,
  }),
  'transmission-lines': siteLoader(
    'highVoltageLine',
    'HIFLD electric power transmission lines',
    HIFLD,
    {
      describe: 'HIFLD electric power transmission lines: GeoJSON, shapefile',
      signature: { columns: [['VOLTAGE', 'VOLT_CLASS']], shapes: ['lines'] },
      key: 'ID',
      vintage: { names: ['VAL_DATE', 'SOURCEDATE'], as: 'day' },
    },
  ),
  'cell-towers': siteLoader('cellTower', 'FCC Antenna Structure Registration', FCC, {
    describe:
      "FCC antenna structures (r_tower.zip: constructed ones), or HIFLD's cell towers (CSV, GeoJSON, shapefile)",
    signature: {
      columns: [['Licensee', 'Callsign', 'LocNum', 'StrucType', 'TowReg', 'UniqSysID']],
      shapes: ['points'],
      zip: ASR_FILES,
    },
    zipFeatures: antennaStructures,
    vintage: { names: ['Changed'], as: 'day' },
  }),
  'gas-pipelines': siteLoader('naturalGasPipeline', `${EIA_NAME}, natural gas pipelines`, EIA, {
    describe: 'EIA natural gas pipelines: GeoJSON, shapefile',
    // Transit and power lines have operators, too.
    signature: { columns: [['TYPEPIPE', 'Pipeline_Type']], shapes: ['lines'] },
  }),
  'alternative-fuels': siteLoader('alternativeFuels', 'Alternative Fuels Data Center', AFDC, {
    describe: 'DOE Alternative Fuels Data Center, stations: CSV, GeoJSON',
    signature: { columns: [['Fuel_Type_Code'], ['Station_Name', 'ID']], shapes: ['points'] },
    vintage: { names: ['Updated_At'], as: 'day' },
  }),
  parks: siteLoader('park', 'Parks', '', {
    describe: 'PAD-US or any layer of parks: GeoJSON, shapefile, CSV',
    signature: {
      anyOther: true,
      like: {
        of: 'a park (name of the unit, access, manager)',
        names:
          /park(?!ing|\d)|^(unitnm|unitname|pubaccess|gapsts|mangname|mangtype|dmangnam|locnm|featclass|iucncat|desnm|dsgnnm)$|recreat|openspace|greenspace|refuge|preserve|playground/,
        texts:
          /\b(parks?|recreation|preserve|refuge|open ?space|playground|greenway|natural area|wilderness|arboretum|gardens?|monument|seashore|padus)\b(?! (ave|av|st|rd|dr|blvd|ln|way|road|street|avenue|district|city))/i,
      },
      shapes: ['points', 'outlines'],
    },
  }),
  wells: siteLoader('oilGasWell', 'Oil and gas wells', '', {
    describe: "Oil and gas wells of a state's agency (CalGEM and others): CSV, GeoJSON, shapefile",
    signature: {
      like: { of: 'a well (API, UWI, well, lease)', names: /^(api|uwi|spud|lease|well)/ },
      shapes: ['points'],
    },
  }),
};
