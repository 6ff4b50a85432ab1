import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { strToU8, zipSync } from 'fflate';
import type { Feature, FeatureCollection, Polygon } from 'geojson';
import { realFile } from '../../real-data.ts';
import type { AgencyMirror, MirroredLayer } from './agency-mirror.ts';
import { shapefileZip } from './polygon-shapefile.ts';

const ARCGIS = {
  nri: 'services.arcgis.com/XG15cJAlne2vxtgt/arcgis/rest/services',
  nifc: 'services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services',
};

export const NRI_COUNTIES = `${ARCGIS.nri}/National_Risk_Index_Counties/FeatureServer/0`;
const NRI_TRACTS = `${ARCGIS.nri}/National_Risk_Index_Census_Tracts/FeatureServer/0`;
const TRACTS_OF_VIRGINIA = 'www2.census.gov/geo/tiger/GENZ2025/shp/cb_2025_51_tract_500k.zip';

const TRACT_COLUMNS = ['STATEFP', 'COUNTYFP', 'TRACTCE', 'GEOID', 'NAMELSAD'];
const NEIGHBOURS = [
  ['DC', '11', -77.03],
  ['MD', '24', -76.7],
  ['NC', '37', -79],
  ['PA', '42', -77.5],
  ['WV', '54', -80],
] as const;

function square(x: number): number[][][] {
  return [
    [
      [x, 38],
      [x + 0.01, 38],
      [x + 0.01, 38.01],
      [x, 38.01],
      [x, 38],
    ],
  ];
}

/** FEMA's table as its ArcGIS service gives it: numbers as numbers, blanks as null. */
export function nriLayer(file: string, edited: number): MirroredLayer {
  const rows: Record<string, string>[] = parse(readFileSync(realFile(file)), { columns: true, bom: true });
  // Some of the 409 fields that are not asked for.
  const names = Object.keys(rows[0]!).filter((name) => /FIPS|ABBRV|NRI_VER|_(RISKR|RISKS|AFREQ)$|^HAIL_/.test(name));
  const isNumber = (name: string) => /_(RISKS|AFREQ)$/.test(name);
  const attributes = rows.map((row) =>
    Object.fromEntries(
      names.map((name) => {
        const text = row[name]!;
        return [name, text === '' ? null : isNumber(name) ? Number(text) : text];
      }),
    ),
  );
  return { fields: names, rows: attributes.map((one) => ({ attributes: one })), edited, mostRows: 73 };
}

/** All natural topics' sources: real ratings and tracts of Virginia, real storms and earthquakes where there are some. */
export function serveNatural(mirror: AgencyMirror): void {
  const { files, layers } = mirror;
  const zip = (name: string, text: string) => Buffer.from(zipSync({ [name]: strToU8(text) }));
  const { features } = JSON.parse(
    readFileSync(realFile('boundaries/va_tracts_tiger.geojson'), 'utf8'),
  ) as FeatureCollection<Polygon, Record<string, string>>;
  const tracts = shapefileZip('cb_2025_51_tract_500k', features, TRACT_COLUMNS);
  files.set(TRACTS_OF_VIRGINIA, { body: tracts, etag: '"va-1"' });
  for (const [state, fips, x] of NEIGHBOURS) {
    const tract: Feature<Polygon> = {
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: square(x) },
      properties: { STATEFP: fips, COUNTYFP: '001', TRACTCE: '000100', GEOID: `${fips}001000100`, NAMELSAD: state },
    };
    files.set(`www2.census.gov/geo/tiger/GENZ2025/shp/cb_2025_${fips}_tract_500k.zip`, {
      body: shapefileZip(`cb_2025_${fips}_tract_500k`, [tract], TRACT_COLUMNS),
      etag: `"${state}"`,
    });
  }
  const counties = [...new Map(features.map((tract) => [tract.properties.GEOID!.slice(0, 5), tract])).values()];
  const countyFeatures = counties.map(
    ({ geometry, properties }): Feature<Polygon> => ({
      type: 'Feature',
      geometry,
      properties: {
        STATEFP: '51',
        COUNTYFP: properties.COUNTYFP,
        GEOID: properties.GEOID!.slice(0, 5),
        NAMELSAD: 'County',
      },
    }),
  );
  files.set('www2.census.gov/geo/tiger/GENZ2025/shp/cb_2025_us_county_500k.zip', {
    body: shapefileZip('cb_2025_us_county_500k', countyFeatures, ['STATEFP', 'COUNTYFP', 'GEOID', 'NAMELSAD']),
    lastModified: 'Tue, 03 Mar 2026 10:00:00 GMT',
  });
  layers.set(NRI_COUNTIES, nriLayer('nri/NRI_Table_Counties_Virginia.csv', 1_765_900_000_000));
  layers.set(NRI_TRACTS, nriLayer('nri/NRI_Table_CensusTracts_Baltimore_24510.csv', 1_765_900_000_000));
  const firstLines = (name: string) =>
    readFileSync(realFile(name), 'utf8').split('\n').slice(0, 300).join('\n').concat('\n');
  const hail = firstLines('storms/2020_hail.csv');
  const tornadoes = Buffer.from(firstLines('storms/2014_torn.csv'));
  files.set('www.spc.noaa.gov/wcm/', {
    body: Buffer.from(
      '<html><a href="/wcm/data/1950-2024_actual_tornadoes.csv">old</a><a href="/wcm/data/1950-2025_actual_tornadoes.csv">x</a>' +
        '<a href="data/1955-2025_hail.csv.zip">hail</a></html>',
    ),
  });
  files.set('www.spc.noaa.gov/wcm/data/1950-2025_actual_tornadoes.csv', { body: tornadoes, etag: '"t1"' });
  files.set('www.spc.noaa.gov/wcm/data/1955-2025_hail.csv.zip', {
    body: zip('1955-2025_hail.csv', hail),
    etag: '"h1"',
  });
  const listing = [
    ['hurdat2-1851-2024-040425.txt', '2025-04-04 10:00'],
    ['hurdat2-1851-2025-02272026.txt', '2026-02-27 10:00'],
    ['hurdat2-1851-2025-091226.txt', '2026-09-12 10:00'],
    ['hurdat2-nepac-1949-2025-091426.txt', '2026-09-14 10:00'],
  ].map(([name, day]) => `<a href="${name}">${name}</a>   ${day}  7.1M\n`);
  files.set('www.nhc.noaa.gov/data/hurdat/', { body: Buffer.from(`<html><pre>${listing.join('')}</pre></html>`) });
  const storms = readFileSync(realFile('storms/hurdat2_2014_2018.txt'), 'utf8');
  files.set('www.nhc.noaa.gov/data/hurdat/hurdat2-1851-2025-091226.txt', { body: Buffer.from(storms), etag: '"a1"' });
  files.set('www.nhc.noaa.gov/data/hurdat/hurdat2-nepac-1949-2025-091426.txt', {
    body: Buffer.from(storms.replaceAll(/^AL(\d{6})/gm, 'EP$1')),
    etag: '"p1"',
  });
  mirror.quakes = Array.from({ length: 300 }, (_, index) => ({
    time: Date.UTC(1990, 0, 1) + index * 40 * 86_400_000,
    lat: 37 + (index % 10) / 10,
    lng: -78,
  }));
  const fire = (state: string, index: number) => ({
    attributes: {
      IncidentName: `Fire ${index}`,
      IncidentTypeCategory: 'WF',
      POOState: `US-${state}`,
      IrwinID: `{${index}}`,
      attr_IncidentName: `Fire ${index}`,
      attr_IncidentTypeCategory: 'WF',
      attr_POOState: `US-${state}`,
      FireDiscoveryDateTime: Date.UTC(2024, 5, index + 1),
    },
    geometry: { type: 'Point', coordinates: [-78 - index / 100, 38] },
  });
  const fires = [fire('VA', 1), fire('VA', 2), fire('CA', 3)];
  const perimeters = fires.map((row, index) => ({
    ...row,
    geometry: { type: 'Polygon', coordinates: square(-78 - index) },
  }));
  const fields = Object.keys(fires[0]!.attributes);
  for (const [name, rows] of [
    ['WFIGS_Incident_Locations_Current', fires],
    ['WFIGS_Incident_Locations', fires],
    ['WFIGS_Interagency_Perimeters', perimeters],
  ] as const) {
    layers.set(`${ARCGIS.nifc}/${name}/FeatureServer/0`, { fields, rows, edited: 1_780_000_000_000 });
  }
}
