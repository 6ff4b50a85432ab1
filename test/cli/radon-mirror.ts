import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { type AgencyMirror, agencyMirror } from '../data/download/agency-mirror.ts';
import { provideLocalData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const RADON = 'gispub.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0';

/** A machine with local data for all topics but radon, and a mirror that has radon alone. */
export async function machineWithoutRadon(
  t: TestContext,
  now: number,
): Promise<{ readonly folder: string; readonly mirror: AgencyMirror }> {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  mirror.layers.set(RADON, {
    fields: ['CountyFIPS', 'CountyName', 'StateName', 'RadonZone'],
    rows: ['06037', '17031'].map((CountyFIPS) => ({
      attributes: { CountyFIPS, CountyName: 'X', StateName: 'X', RadonZone: 2 },
    })),
  });
  const data = new Database(provideLocalData(folder, now));
  data.exec(
    "DELETE FROM radon; DELETE FROM parts WHERE dataset = 'radon'; DELETE FROM datasets WHERE name = 'radon'",
  );
  data.close();
  writeFileSync(join(folder, 'perilbook/sources.yaml'), `mirror: ${mirror.url}\nextract: true\n`);
  return { folder, mirror };
}
