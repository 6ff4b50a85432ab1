import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseTooFew } from '../../../src/data/loaders/load-losses.ts';
import { LOADERS } from '../../../src/data/loaders/loader-table.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { dataMachine } from './downloading.ts';

/** Sources without a floor: fires of the moment may be few, and the others come by state alone. */
const WITHOUT = ['wildfire-incidents', 'flood-zones', 'parks', 'wells'];

for (const { name, loader, rows, least = 0 } of SOURCES.filter(
  (source) => !WITHOUT.includes(source.name),
)) {
  test(`a first load of a tenth of ${name} is refused, and one of all rows is not`, () => {
    const all = rows ?? 2 * least;
    const { name: dataset } = LOADERS.get(loader)!.loads;
    const load = (share: number, texas = share) => {
      const byState = new Map(
        ['CA', 'FL', 'NY', 'PA', 'TX'].map((state) => [state, (all * share) / 50]),
      );
      byState.set('TX', (all * texas) / 50);
      refuseTooFew(dataset, { least, states: ['US'], rows: all * share, byState });
    };
    assert.throws(() => load(0.1), { code: 'SERVICE_DATA', message: /rows? of US, and at least/ });
    assert.doesNotThrow(() => load(1));
    assert.doesNotThrow(() => load(least / all, 1), 'as many as are known');
    if (least >= 100 && !dataset.startsWith('records:'))
      assert.throws(() => load(1, 0), /0 rows of TX, and at least/);
  });
}

const NPL =
  'Superfund_National_Priorities_List_(NPL)_Sites_with_Status_Information/FeatureServer/0';

test('a layer that became nearly empty is not answered from; --replace takes it, and an extract may be small', async (t) => {
  const { run, mirror, folder, list } = await dataMachine(t);
  const places = [
    [-119, 37],
    [-81.5, 28.5],
    [-75, 43],
    [-77, 41],
    [-99, 31],
  ];
  const serve = (count: number) =>
    mirror.layers.set(`services.arcgis.com/cJ9YHowT8TU7DUyn/arcgis/rest/services/${NPL}`, {
      fields: ['Site_Name', 'NPL_Status'],
      rows: Array.from({ length: count }, (_, index) => ({
        attributes: { Site_Name: `Site ${index}`, NPL_Status: 'F' },
        geometry: { type: 'Point', coordinates: places[index % places.length] },
      })),
      edited: count,
    });
  const get = async (...flags: string[]) =>
    await run(['get', 'superfund', '--yes', '--sources', `${folder}/none.yaml`, ...flags]);
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${folder}/none.yaml`, '');
  serve(181);
  const few = await get();
  assert.match(few.stderr, /the load has 181 rows of US, and at least 908 are published/);
  assert.notEqual(few.code, 0);
  assert.deepEqual(
    (await list()).datasets.filter(({ name }: { name: string }) => name === 'sites:superfund'),
    [],
  );
  serve(1_800);
  assert.match((await get()).stderr, /superfund: loaded 1,800 records/);
  serve(180);
  assert.match((await get()).stderr, /the load has 180 rows|180/);
  assert.match((await get('--replace')).stderr, /superfund: loaded 180 records/);
});
