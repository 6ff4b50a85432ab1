import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadParts } from '../../../src/data/loaders/load-files.ts';
import { lines } from '../../geo/lines.ts';
import { openDatabase, point, StillClock, square } from '../../service/small-data.ts';
import { AQI_HEADER, fileOf, geojson } from './loading.ts';

/* A publisher that gives less, or older data, than before: what was loaded from it stays, and what was found is told. */

type Values = Readonly<Record<string, string | number>>;
/** A row with the number of its county, study or year. */
type Row = Values & { readonly part: number };

interface Shrinking {
  readonly of?: 'US' | 'VA';
  readonly as: 'points' | 'outlines' | 'lines' | 'table' | 'rows';
  readonly values: (part: number, index: number, isOlder: boolean) => Values;
  readonly vintage?: readonly [now: string, older: string];
  /** Neither the rows nor the publisher tell of which time the data are. */
  readonly isUndated?: true;
  /** The text of a file that is neither a table of points nor features. */
  readonly text?: (rows: readonly Row[]) => string;
  /** The columns that are renamed, or what is taken from each row. */
  readonly needed: readonly string[];
  readonly rows?: number;
}

const EDITED = ['edited 2026-05-01', 'edited 2025-02-01'] as const;
const COUNTIES = ['51059', '51760', '51810'];
/** In these counties. */
const PLACES = [
  [-77.3, 38.85],
  [-77.46, 37.55],
  [-76.05, 36.8],
] as const;
const yearOf = (part: number, isOlder: boolean) => 2020 + part - Number(isOlder);
const dayOf = (part: number, index: number, isOlder: boolean) =>
  `${yearOf(part, isOlder)}-03-${String(1 + (index % 28)).padStart(2, '0')}`;

/** A file of the Storm Prediction Center, without a header. */
const stormReports = (segment: number): Omit<Shrinking, 'values'> => ({
  as: 'rows',
  needed: [`,1,1,${segment},`],
  text: (rows) =>
    rows
      .map(({ day, minute, lat, lng }) => {
        const [year, month, date] = String(day).split('-').map(Number);
        return `9,${year},${month},${date},${day},1:${minute}:00,3,VA,51,1,1,0,0,0,0,${lat},${lng},${lat},${lng},1,9,1,1,${segment},1,0,0,0,0\n`;
      })
      .join(''),
});

const countyCode = (index: number) => `51${String(1 + 2 * index).padStart(3, '0')}`;

/** What is said of a file without rows, or without what they are known by. */
const NOTHING = /it has no|are not (?:reports|headers) of|no row is usable/;

const BASINS = ['AL', 'EP', 'CP'];

const SOURCES: Readonly<Record<string, Shrinking>> = {
  tornado: {
    ...stormReports(1),
    values: (part, index, isOlder) => ({ day: dayOf(part, index, isOlder), minute: 10 + index }),
  },
  hail: {
    ...stormReports(0),
    values: (part, index, isOlder) => ({ day: dayOf(part, index, isOlder), minute: 10 + index }),
  },
  hurdat2: {
    as: 'rows',
    values: (part, index, isOlder) => ({
      sid: `${BASINS[part]}${10 + index}${isOlder ? 2023 : 2025}`,
      year: isOlder ? 2023 : 2025,
    }),
    needed: ['HU,'],
    text: (rows) =>
      rows
        .map(
          ({ sid, year, lat, lng }) =>
            `${sid}, ANY, 1,\n${year}0628, 1800,  , HU, ${lat}N, ${-Number(lng)}W,  85,  973,${'    0,'.repeat(12)}\n`,
        )
        .join(''),
  },
  ibtracs: {
    as: 'rows',
    values: (part, index, isOlder) => ({
      sid: `${isOlder ? 2023 : 2025}0${part}${index}N20`,
      basin: ['NA', 'EP', 'WP'][part]!,
      year: isOlder ? 2023 : 2025,
    }),
    needed: ['ISO_TIME'],
    text: (rows) =>
      `SID,SEASON,BASIN,NAME,ISO_TIME,LAT,LON,USA_WIND,USA_PRES\n ,Year, , , ,degrees_north,degrees_east,kts,mb\n${rows
        .map(
          ({ sid, basin, year, lat, lng }) =>
            `${sid},${year},${basin},ANY,${year}-06-28 18:00:00,${lat},${lng},85,973\n`,
        )
        .join('')}`,
  },
  'transmission-lines': {
    of: 'VA',
    as: 'lines',
    values: (part, index, isOlder) => ({
      ID: `${part}${index}`,
      VOLTAGE: 230,
      VAL_DATE: isOlder ? '2020-01-01' : '2024-09-30',
    }),
    needed: ['VOLTAGE'],
  },
  'gas-pipelines': {
    of: 'VA',
    as: 'lines',
    values: (part, index) => ({ TYPEPIPE: 'Interstate', Operator: `${part}${index}` }),
    isUndated: true,
    needed: ['TYPEPIPE'],
  },
  frs: {
    of: 'VA',
    as: 'table',
    values: (part, index) => ({
      REGISTRY_ID: `${part}${100 + index}`,
      PGM_SYS_ACRNMS: `ACRES:${part}${index}`,
    }),
    isUndated: true,
    needed: ['REGISTRY_ID', 'PGM_SYS_ACRNMS'],
  },
  parks: {
    of: 'VA',
    as: 'outlines',
    values: (part, index) => ({ Unit_Nm: `${part}${index}`, Pub_Access: 'OA' }),
    vintage: ['PAD-US 4.1 (2024)', 'PAD-US 3.0 (2022)'],
    needed: ['Unit_Nm', 'Pub_Access'],
  },
  radon: {
    as: 'table',
    values: (part, index) => ({
      CountyFIPS: countyCode(30 * part + index),
      RadonZone: 1,
    }),
    isUndated: true,
    needed: ['RadonZone'],
  },
  counties: {
    as: 'outlines',
    values: (part, index) => ({ GEOID: countyCode(30 * part + index) }),
    vintage: ['2025', '2023'],
    needed: ['GEOID'],
  },
  superfund: {
    as: 'points',
    values: (part, index) => ({ EPA_ID: `V${part}${index}`, NPL_STATUS: 'F' }),
    vintage: EDITED,
    needed: ['EPA_ID', 'NPL_STATUS'],
  },
  brownfield: {
    of: 'VA',
    as: 'points',
    values: (part, index) => ({ PGM_SYS_ACRNM: 'ACRES', PGM_SYS_ID: `${part}${index}` }),
    vintage: EDITED,
    needed: ['PGM_SYS_ACRNM', 'PGM_SYS_ID'],
  },
  tri: {
    of: 'VA',
    as: 'table',
    values: (part, index, isOlder) => ({ TRIFD: `${part}F${index}`, YEAR: isOlder ? 2023 : 2025 }),
    needed: ['TRIFD'],
  },
  lmop: {
    as: 'table',
    values: (part, index) => ({ 'Landfill ID': `${part}${index}`, State: 'VA' }),
    vintage: ['September 2026', 'September 2024'],
    needed: ['Landfill ID'],
  },
  'ust-facilities': {
    of: 'VA',
    as: 'points',
    values: (part, index) => ({ Facility_ID: `${part}-${index}`, Open_USTs: 1 }),
    vintage: EDITED,
    needed: ['Open_USTs'],
  },
  'ust-releases': {
    of: 'VA',
    as: 'points',
    values: (part, index) => ({ LUST_ID: `${part}-${index}` }),
    vintage: EDITED,
    needed: ['LUST_ID'],
  },
  'power-plants': {
    as: 'points',
    values: (part, index, isOlder) => ({
      Plant_Code: 100 * part + index,
      Period: isOlder ? 202508 : 202608,
    }),
    needed: ['Plant_Code'],
  },
  'nuclear-reactors': {
    as: 'points',
    values: (_, index, isOlder) => ({
      PrimSource: 'nuclear',
      Name: index,
      Period: isOlder ? 202508 : 202608,
    }),
    needed: ['PrimSource'],
  },
  'cell-towers': {
    as: 'table',
    values: (part, index, isOlder) => ({
      Licensee: `${part}${index}`,
      Changed: isOlder ? '2025-11-01' : '2026-11-01',
    }),
    needed: ['Licensee'],
  },
  'alternative-fuels': {
    as: 'table',
    values: (part, index, isOlder) => ({
      'Fuel Type Code': 'E85',
      ID: 100 * part + index,
      'Updated At': isOlder ? '2025-11-01' : '2026-11-01',
    }),
    needed: ['Fuel Type Code'],
  },
  wells: {
    of: 'VA',
    as: 'table',
    values: (part, index) => ({ API: `${part}${index}`, State: 'VA' }),
    vintage: EDITED,
    needed: ['API'],
  },
  earthquakes: {
    as: 'table',
    values: (part, index, isOlder) => ({
      time: `${dayOf(part, index, isOlder)}T01:00:00Z`,
      mag: 3,
      id: `${part}q${index}`,
    }),
    needed: ['mag'],
  },
  'wildfire-history': {
    of: 'VA',
    as: 'points',
    values: (part, index, isOlder) => ({
      IncidentName: `${part} ${index}`,
      FireDiscoveryDateTime: dayOf(part, index, isOlder),
    }),
    needed: ['IncidentName'],
  },
  'wildfire-perimeters': {
    of: 'VA',
    as: 'outlines',
    values: (part, index, isOlder) => ({
      attr_IncidentName: `${part} ${index}`,
      attr_FireDiscoveryDateTime: dayOf(part, index, isOlder),
    }),
    needed: ['attr_IncidentName'],
  },
  nri: {
    of: 'VA',
    as: 'table',
    values: (part, index, isOlder) => ({
      TRACTFIPS: `${COUNTIES[part]}0001${String(index).padStart(2, '0')}`,
      NRI_VER: isOlder ? 'March 2023' : 'December 2025',
      HAIL_RISKR: 'Very Low',
      HAIL_RISKS: 3,
      HAIL_AFREQ: 1,
    }),
    needed: ['HAIL_RISKR'],
  },
  areas: {
    of: 'VA',
    as: 'outlines',
    values: (part, index) => ({
      GEOID: `${COUNTIES[part]}0001${String(index).padStart(2, '0')}`,
    }),
    vintage: ['2025', '2023'],
    needed: ['GEOID'],
  },
  'flood-zones': {
    of: 'VA',
    as: 'outlines',
    values: (part) => ({ DFIRM_ID: `${COUNTIES[part]}C`, FLD_ZONE: 'AE', SFHA_TF: 'T' }),
    vintage: ['to 2026-08-01', 'to 2023-08-01'],
    needed: ['FLD_ZONE'],
  },
};

function rowsOf({ values, rows = 30 }: Shrinking, isOlder: boolean): Row[] {
  return [0, 1, 2].flatMap((part) =>
    Array.from({ length: rows }, (_, index) => ({
      ...values(part, index, isOlder),
      lng: PLACES[part]![0] + index / 1_000,
      lat: PLACES[part]![1],
      part,
    })),
  );
}

function textOf({ as, text }: Shrinking, rows: readonly Row[]): string {
  if (text !== undefined) return text(rows);
  const features = rows.map(({ part: _, lng, lat, ...values }) => {
    const [x, y] = [Number(lng), Number(lat)];
    if (as === 'points') return point(x, y, values);
    const geometry = as === 'lines' ? lines(`${x} ${y}, ${x + 0.0005} ${y}`) : square(x, y, 0.0005);
    return { geometry, properties: values };
  });
  if (as !== 'table') return geojson(features);
  const table = rows.map(({ part: _, lng, lat, ...values }) => ({
    ...values,
    Latitude: lat!,
    Longitude: lng!,
  }));
  const names = Object.keys(table[0] ?? {}) as (keyof (typeof table)[number])[];
  return `${names.join()}\n${table.map((row) => `${names.map((name) => row[name]).join()}\n`).join('')}`;
}

for (const [name, source] of Object.entries(SOURCES)) {
  test(`${name}: half, nothing, without a part, with other columns or older is refused, and what is here stays`, async (t) => {
    const database = openDatabase(t);
    const extension = source.as === 'table' || source.as === 'rows' ? 'csv' : 'geojson';
    const load = (rows: readonly Row[], vintage?: string, isRenamed = false) => {
      let text = textOf(source, rows);
      for (const column of isRenamed ? source.needed : [])
        text = text.replaceAll(column, `new_${column.length}`);
      const files = [fileOf(t, `rows.${extension}`, text)];
      const part = { of: source.of ?? 'US', files, options: { vintage } };
      const effects = { clock: new StillClock(), onRecords: () => {} };
      return loadParts(database, name, [part], { askedOf: name }, effects);
    };
    const all = rowsOf(source, false);
    const now = source.vintage?.[0];
    const first = await load(all, now);
    for (const [rows, message] of [
      [all.filter((_, index) => index % 2 === 0 && index > 3), /has \d+ records.*and.*\d+/],
      [[], NOTHING],
      [
        all.filter(({ part }) => part !== 1),
        /(county|study|year|basin) [\w ]+ has \d+ records? here and none in the load/,
      ],
    ] as const)
      await assert.rejects(load(rows, now), { code: 'SERVICE_DATA', message });
    await assert.rejects(load(all, now, true), { code: 'SERVICE_DATA', message: NOTHING });
    const older = load(rowsOf(source, true), source.vintage?.[1]);
    if (source.isUndated) await older;
    else
      await assert.rejects(older, { code: 'SERVICE_DATA', message: /is of .* here and of .* in/ });
    assert.equal((await load(all, now)).records, first.records);
  });
}

test('counties come and go in air quality: what is gone is told', async (t) => {
  const database = openDatabase(t);
  const load = (...counties: string[]) => {
    const lines = counties.map(
      (county) => `Virginia,${county},2025,365,300,60,5,0,0,0,155,70,42\n`,
    );
    const files = [fileOf(t, 'aqi.csv', `${AQI_HEADER}\n${lines.join('')}`)];
    const effects = { clock: new StillClock(), onRecords: () => {} };
    return loadParts(
      database,
      'air-quality',
      [{ of: 'US', files, options: {} }],
      { askedOf: 'air-quality' },
      effects,
    );
  };
  await load('Fairfax', 'Henrico', 'Arlington', 'Loudoun');
  const { notes } = await load('Fairfax', 'Henrico', 'Arlington');
  assert.ok(notes.includes('Gone, in VA: 1 county.'), notes.join());
});
