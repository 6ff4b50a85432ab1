import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { cellOf } from '../../src/geo/coordinates.ts';
import { allCounties, countyAt } from '../../src/geo/us-counties.ts';
import { placesWithoutData, readLocalData } from '../../src/run/frame/local-data.ts';
import { placeAnswers } from '../../src/run/look-up/place-answers.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { drawBetween, makeRandom } from '../../src/sample/random.ts';
import { copySampleDatabase } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('places without data are counted also where there are more places than counties', (t) => {
  const file = join(temporaryFolder(t), 'data.db');
  copySampleDatabase(file, NATURAL_SLUGS);
  const data = readLocalData(file, Date.now())!;
  const random = makeRandom(3, 'places');
  const cells = new CellTable();
  for (let place = 0; place < allCounties().length + 200; place++) {
    const location = { lat: drawBetween(random, 33, 45), lng: drawBetween(random, -115, -82) };
    cells.add(cellOf(location, 4));
  }
  const order = Uint32Array.from({ length: cells.size }, (_, cell) => cell);
  const lackingIn = (counties: readonly string[]) =>
    placesWithoutData(
      { ...data, countiesWithoutRatings: new Set(counties) },
      NATURAL_SLUGS,
      order,
      cells,
    );
  assert.deepEqual(lackingIn([]), { withoutData: [], leftOut: [] });
  const codes = Array.from(order, (cell) => {
    const { lat7, lng7 } = cells.cell(cell);
    return countyAt({ lat: lat7 / 1e7, lng: lng7 / 1e7 })?.code;
  });
  // Cherry County, Nebraska: the largest of the state.
  const places = codes.filter((code) => code === '31031').length;
  assert.ok(places > 0);
  assert.deepEqual(lackingIn(['31031']), {
    withoutData: [{ state: 'NE', places, topics: NATURAL_SLUGS }],
    leftOut: [],
  });
});

test('near a state whose data can be downloaded and one of which there is none, the note names the first alone', () => {
  const lackOf = (...states: string[]) => {
    const missing = { reason: 'unavailable', cause: 'not_loaded', datasets: [], states };
    const found = { kind: 'covered', ofArea: null, results: [missing] };
    const answers = placeAnswers({ asOf: 1, now: 1 });
    const { failures } = answers({ lat7: 1, lng7: 2 }, ['oilGasWell'], found as never);
    return failures.map(({ note }) => note).join();
  };
  const download = /^no local data of WV \(perilbook data get oilGasWell --states WV\)/;
  assert.match(lackOf('PA', 'WV'), download);
  assert.match(lackOf('WV'), download);
  assert.match(lackOf('PA'), /^no local data of PA, and none to download /);
});
