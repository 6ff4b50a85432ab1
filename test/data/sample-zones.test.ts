import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declareLayers, TOPICS, withBrought } from '../../src/contract/topics.ts';
import { kindOf } from '../../src/data/zones/zone-layer.ts';
import { layerOfDataset } from '../../src/data/zones/zone-layers.ts';
import { sampleDatasets } from '../../src/sample/add-sample.ts';
import { NOON } from '../service/small-data.ts';

/** Enough to have each class of a layer. */
const ZONES = 300;

test("the made-up zones of each layer have the description's classes and columns", (t) => {
  t.after(() => declareLayers([]));
  declareLayers(withBrought([]));
  const seen: string[] = [];
  for (const dataset of sampleDatasets(NOON)) {
    if (dataset.kind !== 'zones') continue;
    const layer = layerOfDataset(dataset.info.name)!;
    const { classes = [], columns = {}, layer: name } = layer;
    const names = new Set<string>();
    let left = ZONES;
    for (const record of dataset.records) {
      if (left-- === 0) break;
      if (record.kind !== 'zone') continue;
      const { kind } = kindOf(layer, { code: record.code, subtype: record.detail });
      assert.ok(kind !== null, `${name} has no class "${record.code}"`);
      assert.deepEqual(Object.keys(record.facts!.facts).sort(), Object.keys(columns).sort(), name);
      names.add(kind.name);
    }
    assert.ok(names.size >= Math.min(2, classes.length || 1), `${name}: ${[...names].join()}`);
    seen.push(name);
  }
  const layers = TOPICS.flatMap(({ layer }) => (layer === null ? [] : layer.layer));
  assert.deepEqual(seen.sort(), layers.sort());
});
