import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { amount } from '../../src/base/format-numbers.ts';
import { type Facts, lineText, measureOf, percent } from '../../src/report/figures/facts.ts';
import { labelColumns, labelOf } from '../../src/report/figures/named-rows.ts';
import { escaped, html, jsonData } from '../../src/report/html/html.ts';
import { lossesSection } from '../../src/report/html/losses.ts';
import { anyCharacter, fc } from '../properties.ts';

test('whatever a text holds, it cannot leave its place in the markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      assert.doesNotMatch(escaped(text), /[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
      assert.doesNotMatch(escaped(text), /\p{Bidi_C}|(?![\t\n\r])\p{Cc}/u);
      const json = jsonData({ text }).text;
      assert.doesNotMatch(json, /[<>&\u2028\u2029]/);
      assert.deepEqual(JSON.parse(json), { text });
    }),
  );
});

test('values are escaped once, markup of our own is not, an object of a file is no markup', () => {
  const name = '<b>&"\'';
  assert.equal(
    html`<p title="${name}">${[name, html`<i>${name}</i>`]}${null}${false}</p>`.text,
    '<p title="&lt;b&gt;&amp;&quot;&#39;">&lt;b&gt;&amp;&quot;&#39;<i>&lt;b&gt;&amp;&quot;&#39;</i></p>',
  );
  assert.throws(() => html`${JSON.parse('{"text":"<b>"}')}`);
  assert.equal(escaped('half \ud800'), 'half \ufffd');
});

test('a book without a loss rate has a sentence that says so, and no table', () => {
  const none = { perils: [], counties: { count: 0, largest: [], others: null }, locations: [] };
  const losses = { valueName: 'tiv', annualLoss: 0, value: 0, allValue: 9, ...none };
  const facts = { losses, currency: null, unit: 'row', all: { locations: 1, value: 9 } };
  const { text } = lossesSection(facts as unknown as Facts)!;
  assert.match(text, /<p class="says">No place has a loss rate, [^<]*<\/p>\s*<\/details>/);
});

test('a share is never shown as nothing when it is something, nor as all when it is not', () => {
  assert.deepEqual(
    [
      percent(0, 9),
      percent(9, 9),
      percent(1, 1e6),
      percent(1e6 - 1, 1e6),
      percent(1, 3),
      percent(1, 0),
    ],
    ['0 %', '100 %', '<0.1 %', '>99.9 %', '33.3 %', '–'],
  );
  const shares = [1, 2, 1998, 1999].map((part) => percent(part, 2000));
  assert.deepEqual(shares, ['0.1 %', '0.1 %', '99.9 %', '>99.9 %']);
  assert.deepEqual([percent(199, 200, 0), percent(198, 200, 0)], ['>99 %', '99 %']);
});

test('what a report measures, and the line of a row', () => {
  for (const [valueName, currency, value, ...expected] of [
    ['tiv', 'CAD', 9e6, 'value', 'Value, CAD', 9e6, 'CAD 9.00 M', 'CAD 9.00 M'],
    ['tiv', null, null, 'value', 'Value', 0, '0', '0'],
    [null, 'CAD', null, 'locations', 'Locations', 1_200, '1,200', '1,200 locations'],
  ] as const) {
    const { by, name, of, shown, words } = measureOf({ valueName, currency });
    const sum = { locations: 1_200, value };
    assert.deepEqual([by, name, of(sum), shown(of(sum)), words(sum)], expected);
  }
  assert.deepEqual(
    [lineText({ line: 1234 }), lineText({ line: 1234, part: 'a.csv' })],
    ['1,234', 'a.csv:1,234'],
  );
});

test('amounts have three digits, a unit, and their currency where it is known', () => {
  assert.deepEqual(
    [3_194_148_000, 999_600_000, 99_960_000, 12_345, 950.4, 0, -2_500_000].map((value) =>
      amount(value, 'USD'),
    ),
    ['$3.19 B', '$1.00 B', '$100 M', '$12.3 K', '$950', '$0', '−$2.50 M'],
  );
  assert.deepEqual([amount(1e12, 'CAD'), amount(5e6, null)], ['CAD 1.00 T', '5.00 M']);
  assert.equal(amount(1.5e18, 'USD'), '$1,500,000 T');
  assert.deepEqual(
    [0.6, 12.34, 150.6, 7, 0.001, -0.5, 999.4, 999.7, 999_999].map((value) => amount(value, null)),
    ['0.60', '12.3', '151', '7', '<0.01', '−0.50', '999', '1.00 K', '1.00 M'],
    'small sums are not rounded to whole numbers',
  );
});

test('the columns by which people know a location', () => {
  const found = (names: string) => {
    const columns = names.split(',');
    const { id, name } = labelColumns(columns);
    return [id === null ? null : columns[id], name === null ? null : columns[name]];
  };
  assert.deepEqual(found('PortNumber,AccNumber,LocNumber,LocName,Latitude'), [
    'LocNumber',
    'LocName',
  ]);
  assert.deepEqual(found('Fuel Type Code,Station Name,Street Address,ID'), ['ID', 'Station Name']);
  assert.deepEqual(found('listing_id,address,price,lat,lng'), ['listing_id', 'address']);
  assert.deepEqual(found('policyID,statecode,county,tiv_2012'), ['policyID', null]);
  assert.deepEqual(found('grid,asset_id,lat,lng'), ['asset_id', null]);
  assert.deepEqual(found('name,lat,lng,policy'), ['policy', 'name']);
  assert.deepEqual(found('Account,riskId,lat,lng'), ['riskId', null]);
  assert.deepEqual(found('grid,Account,lat,lng'), ['Account', null]);
  assert.deepEqual(found('asset_id ,Account,lat,lng'), ['asset_id ', null]);
  assert.deepEqual(found('grid,Madrid,Covid,riskIDs,asset identity,lat,lng'), [null, null]);
  assert.equal(labelOf(' 12 Main St '), '12 Main St');
  assert.equal(labelOf('x'.repeat(60)), 'x'.repeat(60));
  assert.equal(labelOf('x'.repeat(200)).length, 60);
});

const CSS = readFileSync(new URL('../../src/report/html/assets/base.css', import.meta.url), 'utf8');

/** How red, green and blue are seen, as linear light (Machado, Oliveira and Fernandes 2009, full severity). */
const SIGHTS = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998,
  ],
  deuteranopia: [
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881,
  ],
  tritanopia: [
    1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039,
  ],
} as const;

/** The custom property `name` of the style sheet in light (1) or dark (2), as someone sees it, in CIELAB. */
function seen(mode: 1 | 2, name: string, sight: readonly number[]): number[] {
  const hex = new RegExp(`--${name}: light-dark\\(#([0-9a-f]{6}), #([0-9a-f]{6})\\);`).exec(CSS)![
    mode
  ];
  const light = [0, 2, 4]
    .map((at) => Number.parseInt(hex!.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const [r, g, b] = [0, 3, 6].map((row) => {
    const sum = light.reduce((all, c, at) => all + c * sight[row + at]!, 0);
    return Math.min(1, Math.max(0, sum));
  }) as [number, number, number];
  const root = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** A difference of 2 is just seen side by side; 15 is seen across a map. */
const APART = 15;

for (const [mode, part] of [
  ['light', 1],
  ['dark', 2],
] as const) {
  for (const [name, sight] of Object.entries(SIGHTS)) {
    test(`in ${mode} with ${name} sight all classes stay apart, and from the land and from sums`, () => {
      const names = ['t1', 't2', 't3', 't4', 't5', 't6', 'none', 'land', 'heat'];
      const colours = names.map((tone) => seen(part, tone, sight));
      for (const [index, colour] of colours.entries()) {
        for (const [before, other] of colours.slice(0, index).entries()) {
          const apart = Math.hypot(...colour.map((at, axis) => at - other[axis]!));
          assert.ok(apart > APART, `${names[before]} and ${names[index]}: ${apart}`);
        }
      }
    });
  }
  test(`in ${mode} lightness follows the order of the classes, so that grey print keeps it`, () => {
    const lightness = ['t1', 't2', 't3', 't4', 't5', 't6'].map(
      (tone) => seen(part, tone, SIGHTS.normal)[0]!,
    );
    const steps = lightness
      .slice(1)
      .map((at, index) => (lightness[index]! - at) * (part === 1 ? 1 : -1));
    assert.ok(Math.min(...steps) >= 7, `${lightness}`);
  });
  test(`in ${mode} cool is low and warm is high`, () => {
    // b* of CIELAB is below 0 for blue, a* above 0 for red.
    const [low, , , , high] = ['t1', 't2', 't3', 't4', 't5'].map((tone) =>
      seen(part, tone, SIGHTS.normal),
    );
    assert.ok(low![2]! < -10 && high![1]! > 30, `${low} ${high}`);
  });
}
