/**
 * What buying by census tract saves: a million locations in 85,000 tracts, all 18 natural ratings; planned only, nothing is bought. The figure of the design is 15 million credits against 1.3 million.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { systemClock } from '../src/base/clock.ts';
import { CREDITS } from '../src/contract/credits.ts';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import type { CellAreas } from '../src/data/tables/cell-area-finder.ts';
import { type Cell, locationOf } from '../src/geo/coordinates.ts';
import type { JobFile } from '../src/job/job-file.ts';
import { makeJob } from '../src/job/settings.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import { sized } from './size.ts';
import { type Goal, percent, table } from './table.ts';

const ROWS = sized(1_000_000, 2_000);
const TRACTS = sized(85_000, 400);

const RATINGS_BY_TRACT = 'by tract, ratings only, 1 % verified';

/** A part of the lower 48 without coasts or borders, so that every place is in the US. */
const INLAND = { south: 34, north: 45, west: -116, east: -85 };

/** Tracts are rectangles of this many degrees, this many in a row. */
const ACROSS = 340;
const TRACT_NORTH = (INLAND.north - INLAND.south) / Math.ceil(TRACTS / ACROSS);
const TRACT_EAST = (INLAND.east - INLAND.west) / ACROSS;

/** The tract of a cell. */
function tractOf(cell: Cell): CellAreas {
  const { lat, lng } = locationOf(cell);
  // A location on the edge may be rounded outwards.
  const row = Math.floor((lat - INLAND.south) / TRACT_NORTH + 0.01);
  const column = Math.floor((lng - INLAND.west) / TRACT_EAST + 0.01);
  return {
    tract: `08${String(row * ACROSS + column).padStart(9, '0')}`,
    county: null,
    lacks: null,
  };
}

/** Plans the book without areas, and with tracts. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-areas-'));
  try {
    await writeOutput(join(folder, 'book.csv'));
    // Without avalanche: whether the standard bundle returns it is not the question here.
    const topics = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');
    const ways: readonly [string, JobFile][] = [
      ['every cell for itself', {}],
      [RATINGS_BY_TRACT, { areas: 'tract' }],
    ];
    const rows: (string | number)[][] = [];
    let [first, ofAreas, verifying] = [0, 0, 0];
    for (const [name, settings] of ways) {
      const begun = performance.now();
      const { credits, cells, areas } = await plan(folder, { ...settings, topics });
      first ||= credits;
      if (areas) {
        verifying = areas.verified * CREDITS.standard;
        ofAreas = credits - verifying;
      }
      rows.push([
        name,
        cells,
        credits,
        percent(credits / first),
        `${((performance.now() - begun) / 1_000).toFixed(1)} s`,
      ]);
    }
    console.log(table(['way to buy', 'cells', 'credits', 'of the first', 'planned in'], rows));
    return [
      { what: 'credits by tract', measured: ofAreas, unit: 'credits', atMost: 1.3e6 },
      {
        what: 'and to verify one spared answer in a hundred',
        measured: verifying,
        unit: 'credits',
        atMost: 0.15e6,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function plan(folder: string, settings: JobFile) {
  const job = makeJob([settings, { input: 'book.csv' }], {
    dataFolder: folder,
    workingFolder: folder,
  });
  const store = openSqliteStore(join(folder, 'store.db'), systemClock, {
    name: 'bench',
    isAlive: () => true,
  });
  const key = { secret: '', fingerprint: '', scopes: null };
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = {
    clock: systemClock,
    random: Math.random,
    streams,
    notice: () => {},
    openAreas: () => ({ find: tractOf, [Symbol.dispose]: () => {} }),
  };
  try {
    const connection = {
      kind: 'service' as const,
      baseUrl: '',
      source: 'bench',
      sample: true,
      keys: [key],
    };
    using prepared = await prepare(await openContext(job, { connection, store, effects }));
    return prepared.summary;
  } finally {
    await store.close();
  }
}

/** Rows in no order of tracts, each within a kilometre or two of its tract's middle. */
async function writeOutput(file: string): Promise<void> {
  const out = createWriteStream(file);
  out.write('LocNumber,Latitude,Longitude\n');
  for (let row = 0; row < ROWS; row++) {
    const number = (row * 7_919) % TRACTS;
    const lat = INLAND.south + TRACT_NORTH * Math.floor(number / ACROSS);
    const lng = INLAND.west + TRACT_EAST * (number % ACROSS);
    const [north, east] = [((row * 31) % 997) * 2e-5, ((row * 17) % 991) * 2e-5];
    const line = `${row + 1},${(lat + north).toFixed(5)},${(lng + east).toFixed(5)}\n`;
    if (!out.write(line)) await new Promise<void>((resolve) => out.once('drain', () => resolve()));
  }
  out.end();
  await finished(out);
}
