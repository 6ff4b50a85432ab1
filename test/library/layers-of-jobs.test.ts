import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { plan, run } from '../../src/index.ts';
import { perilbook } from '../cli/command-line.ts';
import { column } from '../run/harness.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const DESCRIPTION = `
title: Zone
vintage: "2025"
class: { constant: in }
outside: none
`;

test('jobs of one program do not share the layers that each describes', async (t) => {
  const home = temporaryFolder(t);
  const dataFolder = join(home, '.local/share/perilbook');
  const square = {
    type: 'Polygon',
    coordinates: [
      [
        [-100, 40],
        [-99, 40],
        [-99, 41],
        [-100, 41],
        [-100, 40],
      ],
    ],
  };
  const folderOf = (name: string, layer: string, text = DESCRIPTION) => {
    const folder = join(home, name);
    mkdirSync(folder);
    writeFileSync(join(folder, `${layer}.layer.yaml`), `layer: ${layer}${text}`);
    writeFileSync(
      join(folder, 'zone.geojson'),
      JSON.stringify({ type: 'Feature', properties: {}, geometry: square }),
    );
    writeFileSync(join(folder, 'in.csv'), 'id,lat,lng\n1,40.5,-99.5\n2,42,-99.5\n');
    return folder;
  };
  const one = folderOf('one', 'zone_one');
  const two = folderOf('two', 'zone_two');
  const jobIn = (folder: string, layer: string) =>
    [
      { input: 'in.csv', output: 'out.csv', topics: layer, store: 'store.db' },
      { workingFolder: folder, dataFolder },
    ] as const;
  for (const [folder, layer] of [
    [one, 'zone_one'],
    [two, 'zone_two'],
  ] as const) {
    const words = ['data', 'load', layer, 'zone.geojson', '--db', join(dataFolder, 'data.db')];
    mkdirSync(dataFolder, { recursive: true });
    const loaded = await perilbook(words, { folder });
    assert.equal(loaded.code, 0, loaded.stderr);
  }
  // At one time, each by its own description.
  await Promise.all([run(...jobIn(one, 'zone_one')), run(...jobIn(two, 'zone_two'))]);
  for (const [folder, layer] of [
    [one, 'zone_one'],
    [two, 'zone_two'],
  ] as const)
    assert.deepEqual(column(readFileSync(join(folder, 'out.csv'), 'utf8'), layer), ['in', 'none']);
  await assert.rejects(plan(...jobIn(one, 'zone_two')), {
    code: 'USAGE',
    message: 'zone_two is a layer of another job of this program',
  });
  const other = folderOf('other', 'zone_one', DESCRIPTION.replace('none', 'unknown'));
  await assert.rejects(plan(...jobIn(other, 'zone_one')), {
    code: 'USAGE',
    message: /^zone_one is described by .*one.zone_one\.layer\.yaml, and otherwise by .*other/,
  });
});
