import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Position } from 'geojson';
import type { BroughtLayer } from '../../../src/contract/topics.ts';
import { perilbook } from '../../cli/command-line.ts';
import { randomFrom } from '../../random-from.ts';
import { dataMachine } from './downloading.ts';

/* The layers that Perilbook brings, on data made in the form of their publishers. */

const FIRE = 'services1.arcgis.com/jUJYIo9tSA7EHvfZ/arcgis/rest/services';
const BARRIERS =
  'gis1.wim.usgs.gov/server/rest/services/CBRSMapper/CoastalBarrierResourcesSystem/MapServer/3';
const PLACES = 1_000;

interface Drawn {
  readonly attributes: Readonly<Record<string, string | number | null>>;
  readonly geometry: { readonly type: 'Polygon'; readonly coordinates: Position[][] };
}

const degrees = (value: number): number => Math.round(value * 1e6) / 1e6;

/** A ragged ring round a point. */
function blob(random: () => number, lng: number, lat: number, size: number): Drawn['geometry'] {
  const ring = Array.from({ length: 12 }, (_, index): Position => {
    const reach = size * (0.5 + 0.5 * random());
    const angle = (index * Math.PI) / 6;
    return [degrees(lng + reach * Math.cos(angle)), degrees(lat + reach * Math.sin(angle))];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] };
}

/** Whether a ring turns round a place, by the sum of the angles: with other arithmetic than the program's. */
function holds({ geometry }: Drawn, lng: number, lat: number): boolean {
  const ring = geometry.coordinates[0]!;
  let angle = 0;
  for (let i = 0; i + 1 < ring.length; i++) {
    const [ax, ay, bx, by] = [
      ...[ring[i]![0]! - lng, ring[i]![1]! - lat],
      ...[ring[i + 1]![0]! - lng, ring[i + 1]![1]! - lat],
    ] as [number, number, number, number];
    angle += Math.atan2(ax * by - ay * bx, ax * bx + ay * by);
  }
  return Math.abs(angle) > Math.PI;
}

/** Loads a description's layers and looks up random places. @returns by place what the output has, and the polygons that hold it */
async function lookUp(
  t: TestContext,
  name: string,
  layers: ReadonlyMap<string, readonly Drawn[]>,
  [west, south]: readonly [number, number],
) {
  const { folder, mirror, options, run } = await dataMachine(t);
  for (const [layer, rows] of layers) {
    const fields = Object.keys(rows[0]!.attributes);
    mirror.layers.set(layer, { fields, rows, edited: Date.UTC(2026, 1, 2), mostRows: 25 });
  }
  const got = await run(['get', name, '--yes']);
  assert.equal(got.code, 0, got.stderr);
  const checked = await run(['check', name]);
  assert.match(checked.stdout, new RegExp(`^${name} +ok `, 'm'), checked.stderr);
  const random = randomFrom(3);
  const places = Array.from({ length: PLACES }, () => [
    degrees(west + random() * 0.4),
    degrees(south + random() * 0.4),
  ]) as [number, number][];
  const rows = places.map(([lng, lat], index) => `${index},${lat},${lng}\n`);
  writeFileSync(join(folder, 'places.csv'), `id,latitude,longitude\n${rows.join('')}`);
  const words = ['run', 'places.csv', '-o', 'out.csv', '--topics', name, '--precision', '6'];
  const ran = await perilbook(words, options);
  assert.equal(ran.code, 0, ran.stderr);
  const [head, ...lines] = readFileSync(join(folder, 'out.csv'), 'utf8').trim().split('\n');
  const at = head!.split(',').indexOf(name);
  const drawn = [...layers.values()].flat();
  const answers = lines.map((line, index) => {
    const [lng, lat] = places[index]!;
    // The notes, which have quotes, stand before.
    const fields = line.replace(/"[^"]*"/g, '').split(',');
    return {
      given: fields[at]!,
      next: fields[at + 1]!,
      held: drawn.filter((polygon) => holds(polygon, lng, lat)),
    };
  });
  return { answers, vintage: lines[0]!, again: await run(['update', name]) };
}

/** Fire hazard severity zones of both responsibility areas are one layer. */
async function compareFireZones(t: TestContext): Promise<void> {
  const random = randomFrom(1);
  const zone = (classes: readonly string[], sra: string): Drawn => ({
    attributes: {
      SRA: sra,
      FHSZ: 1,
      FHSZ_Description: classes[Math.floor(random() * classes.length)]!,
    },
    geometry: blob(random, -120 + random() * 0.4, 37 + random() * 0.4, 0.04),
  });
  const order = ['Very High', 'High', 'Moderate', 'NonWildland'];
  const state = Array.from({ length: 40 }, () => zone(order.slice(0, 3), 'SRA'));
  const local = Array.from({ length: 40 }, () => zone(order, 'LRA'));
  const layers = new Map([
    [`${FIRE}/FHSZSRA_23_3/FeatureServer/0`, state],
    [`${FIRE}/FHSALRA25_v1_All/FeatureServer/0`, local],
  ]);
  const { answers, again } = await lookUp(t, 'ca_fire_zone', layers, [-120, 37]);
  const seen = new Map<string, number>();
  for (const { given, next, held } of answers) {
    const classOf = ({ attributes }: Drawn) => order.indexOf(attributes.FHSZ_Description as string);
    const best = Math.min(order.length, ...held.map(classOf));
    const expected = best === 4 ? '' : best === 3 ? 'none' : order[best];
    assert.equal(given, expected);
    seen.set(given, (seen.get(given) ?? 0) + 1);
    const owners = held.filter((polygon) => classOf(polygon) === best && best < 3);
    const names = owners.map((polygon) => (state.includes(polygon) ? 'state' : 'local'));
    assert.ok(names.length === 0 ? next === '' : names.includes(next as 'state'));
  }
  assert.ok([...seen.values()].every((count) => count > 20) && seen.size === 5, `${[...seen]}`);
  assert.match(again.stderr + again.stdout, /unchanged|no newer|nothing/i);
}

/** Units of the Coastal Barrier Resources System, and none outside of them. */
async function compareBarriers(t: TestContext): Promise<void> {
  const random = randomFrom(2);
  const order = ['System Unit', 'Otherwise Protected Area'];
  const units = Array.from({ length: 60 }, (_, index) => ({
    attributes: { Unit: `FL-${index}`, Unit_Type: order[index % 2]! },
    geometry: blob(random, -82.2 + random() * 0.4, 29.6 + random() * 0.4, 0.03),
  }));
  const { answers } = await lookUp(
    t,
    'coastal_barrier',
    new Map([[BARRIERS, units]]),
    [-82.2, 29.6],
  );
  for (const { given, held } of answers) {
    const best = Math.min(2, ...held.map((unit) => order.indexOf(`${unit.attributes.Unit_Type}`)));
    assert.equal(given, order[best] ?? 'none');
  }
  assert.ok(new Set(answers.map(({ given }) => given)).size === 3);
}

const COMPARISONS: Readonly<Record<BroughtLayer, (t: TestContext) => Promise<void>>> = {
  ca_fire_zone: compareFireZones,
  coastal_barrier: compareBarriers,
};

for (const [layer, compare] of Object.entries(COMPARISONS))
  test(`${layer}: 1,000 places as by hand`, compare);
