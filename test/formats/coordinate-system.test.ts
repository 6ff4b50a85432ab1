import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { toDegrees } from '../../src/formats/shapefile/coordinate-system.ts';

test('of degrees the datum decides whether they are shifted, whatever the system is called', () => {
  const of = (name: string, datum: string) =>
    toDegrees(
      `GEOGCS["${name}",DATUM["${datum}",SPHEROID["Clarke_1866",6378206.4,294.9786982]],PRIMEM["Greenwich",0],UNIT["Degree",0.0174532925199433]]`,
      (what, hint) => new PerilbookError('SERVICE_DATA', what, hint),
    );
  assert.equal(of('Own degrees', 'D_WGS_1984'), null);
  const [lng, lat] = of('GCS_WGS_1984', 'D_North_American_1927')!([-99, 40]);
  assert.ok(Math.abs(lng! + 99) > 1e-4 || Math.abs(lat! - 40) > 1e-5, `${lng} ${lat}`);
});
