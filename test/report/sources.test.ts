import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourcesSection } from '../../src/report/html/quality.ts';

const DATASET = {
  name: 'nri',
  level: 'county',
  vintage: 'December 2025',
  states: ['NE'],
  source: 'National Risk Index',
  licence: '',
} as unknown as Parameters<typeof sourcesSection>[0][number];

test('the licences of the datasets stand below them, each once, where there is any', () => {
  const without = sourcesSection([DATASET]).text;
  assert.ok(without.includes('December 2025') && without.includes('NE'));
  assert.ok(!without.includes('Licences'));
  const radon = { ...DATASET, source: 'Radon map', licence: 'CC BY 4.0' };
  const all = sourcesSection([DATASET, radon, { ...radon, level: '' }]).text;
  assert.equal(all.split('CC BY 4.0').length - 1, 1);
  assert.equal(all.split('<li>').length - 1, 1);
});
