import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statedNote } from '../../src/columns/row-status.ts';
import { oldestFirst, statedText } from '../../src/contract/stated-data.ts';

test('a note names all datasets, the oldest first', () => {
  assert.equal(
    oldestFirst(['nri December 2025', 'park', 'radon 1993']),
    'radon 1993, nri December 2025, park',
  );
  assert.equal(
    oldestFirst(['d 2024-05-02', 'c 2024-05', 'b 1950-2025', 'a 2023']),
    'a 2023, c 2024-05, d 2024-05-02, b 1950-2025',
  );
});

test('a dataset stands once; a remark names its topics unless all have it', () => {
  const plain = statedText({ vintages: ['areas 2025', 'nri 2024'], remarks: [] });
  const ofCounty = statedText({
    vintages: ['areas 2025', 'nri 2024'],
    remarks: ['rating of the county'],
  });
  const note = "service's data: nri 2024, areas 2025";
  assert.equal(statedNote([]), '');
  assert.equal(
    statedNote([
      ['hail', plain],
      ['drought', plain],
    ]),
    note,
  );
  assert.equal(
    statedNote([
      ['hail', ofCounty],
      ['drought', ofCounty],
    ]),
    `${note}; rating of the county`,
  );
  assert.equal(
    statedNote([
      ['hail', ofCounty],
      ['drought', plain],
    ]),
    `${note}; rating of the county: hail`,
  );
  const many = (['hail', 'drought', 'tornado', 'tsunami', 'avalanche'] as const).map(
    (topic) => [topic, ofCounty] as const,
  );
  const named = `${note}; rating of the county: hail drought tornado tsunami and 1 more`;
  assert.equal(statedNote([...many, ['radon', plain]]), named);
});
