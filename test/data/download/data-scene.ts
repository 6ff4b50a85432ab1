import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { perilbook, type SetupOptions } from '../../cli/command-line.ts';
import { AQI_HEADER } from '../loaders/loading.ts';
import { dataMachine } from './downloading.ts';

export const RADON = 'gispub.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0';
export const AIR = 'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2025.zip';
export const AIR_2024 = 'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2024.zip';
export const FIRES =
  'services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services/WFIGS_Interagency_Perimeters/FeatureServer/0';
export const NRI_TRACTS =
  'services.arcgis.com/XG15cJAlne2vxtgt/arcgis/rest/services/National_Risk_Index_Census_Tracts/FeatureServer/0';
export const triFileOf = (state: string) =>
  `data.epa.gov/efservice/downloads/tri/mv_tri_basic_download/2025_${state}/csv`;
export const COUNTIES = ['51001', '51003', '51005'];

export const radonLayer = (zone: number) => ({
  fields: ['CountyFIPS', 'CountyName', 'StateName', 'RadonZone'],
  rows: COUNTIES.map((CountyFIPS) => ({
    attributes: { CountyFIPS, CountyName: 'X', StateName: 'VA', RadonZone: zone },
  })),
});

export function airZip(days: number, year = 2025, county = 'Accomack'): Buffer {
  const row = `Virginia,${county},${year},${days},${days - 10},10,0,0,0,0,90,60,40`;
  return Buffer.from(
    zipSync({ [`annual_aqi_by_county_${year}.csv`]: strToU8(`${AQI_HEADER}\n${row}\n`) }),
  );
}

export async function setUp(t: TestContext) {
  const machine = await dataMachine(t);
  machine.mirror.layers.set(RADON, radonLayer(2));
  machine.mirror.files.set(AIR, { body: airZip(360), etag: '"1"' });
  return { ...machine, downloads: join(machine.folder, 'perilbook/downloads') };
}

export type Outcome = {
  source: string;
  records?: number;
  ok?: boolean;
  error?: { code: string; message: string };
};

export const datasetsOf = async (options: SetupOptions) =>
  (
    JSON.parse((await perilbook(['data', '--json'], options)).stdout) as {
      datasets: { name: string; rows: number }[];
    }
  ).datasets;

/** What `data check` says of one source. */
export async function checked(run: Awaited<ReturnType<typeof setUp>>['run'], name: string) {
  const { code, stdout } = await run(['check', name, '--json']);
  const { sources } = JSON.parse(stdout) as {
    sources: { source: string; ok: boolean; warning?: string }[];
  };
  const allOk = sources.every(({ ok }) => ok);
  assert.equal(allOk, code === 0);
  return { code, warning: sources.find(({ source }) => source === name)!.warning };
}
