import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { amount } from '../../src/format-numbers.ts';
import { labelColumns, labelOf } from '../../src/report/location-labels.ts';
import { percent } from '../../src/report/numbers.ts';
import { escaped, html, jsonData } from '../../src/report/page/html.ts';
import { fc } from '../properties.ts';

test('whatever a text holds, it cannot leave its place in the markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
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

test('a share is never shown as nothing when it is something, nor as all when it is not', () => {
  assert.deepEqual(
    [percent(0, 9), percent(9, 9), percent(1, 1e6), percent(1e6 - 1, 1e6), percent(1, 3), percent(1, 0)],
    ['0 %', '100 %', '<0.1 %', '>99.9 %', '33.3 %', '–'],
  );
});

test('amounts have three digits, a unit, and their currency where it is known', () => {
  assert.deepEqual(
    [3_194_148_000, 999_600_000, 99_960_000, 12_345, 950.4, 0, -2_500_000].map((value) => amount(value, 'USD')),
    ['$3.19 bn', '$1.00 bn', '$100 m', '$12.3 k', '$950', '$0', '−$2.50 m'],
  );
  assert.deepEqual([amount(1e12, 'CAD'), amount(5e6, null)], ['CAD 1.00 tn', '5.00 m']);
  assert.deepEqual(
    [0.6, 12.34, 150.6, 7, 0.001, -0.5, 999.4, 999.7, 999_999].map((value) => amount(value, null)),
    ['0.60', '12.3', '151', '7', '<0.01', '−0.50', '999', '1.00 k', '1.00 m'],
    'small sums are not rounded to whole numbers',
  );
});

test('the columns by which people know a location', () => {
  const found = (names: string) => {
    const columns = names.split(',');
    const { id, name } = labelColumns(columns);
    return [id === null ? null : columns[id], name === null ? null : columns[name]];
  };
  assert.deepEqual(found('PortNumber,AccNumber,LocNumber,LocName,Latitude'), ['LocNumber', 'LocName']);
  assert.deepEqual(found('Fuel Type Code,Station Name,Street Address,ID'), ['ID', 'Station Name']);
  assert.deepEqual(found('listing_id,address,price,lat,lng'), ['listing_id', 'address']);
  assert.deepEqual(found('policyID,statecode,county,tiv_2012'), ['policyID', null]);
  assert.deepEqual(found('grid,asset_id,lat,lng'), ['asset_id', null]);
  assert.deepEqual(found('lat,lng,policy'), ['policy', null]);
  assert.deepEqual(found('Account,riskId,lat,lng'), ['riskId', null]);
  assert.deepEqual(found('grid,Account,lat,lng'), ['Account', null]);
  assert.deepEqual(found('grid,Madrid,Covid,lat,lng'), [null, null]);
  assert.equal(labelOf(' 12 Main St '), '12 Main St');
  assert.equal(labelOf('x'.repeat(200)).length, 60);
});

const CSS = readFileSync(new URL('../../src/report/page/assets/colours.css', import.meta.url), 'utf8');

/** Relative luminance (WCAG 2.2) of the custom property `name` in a part of the style sheet. */
function luminance(part: string, name: string): number {
  const [, hex] = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(part)!;
  const [red, green, blue] = [0, 2, 4]
    .map((at) => Number.parseInt(hex!.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

for (const [mode, part, sign] of [
  ['light', CSS.slice(0, CSS.indexOf('@media')), -1],
  ['dark', CSS.slice(CSS.indexOf('@media')), 1],
] as const) {
  test(`the scale in ${mode} can be told apart by lightness alone, whatever colours someone sees`, () => {
    const tones = [1, 2, 3, 4, 5, 6].map((tone) => luminance(part, `t${tone}`));
    for (let index = 1; index < tones.length; index++) {
      const [a, b] = [tones[index - 1]! + 0.05, tones[index]! + 0.05];
      assert.ok((sign > 0 ? b / a : a / b) > 1.3, `${index} and ${index + 1}: ${a / b}`);
    }
  });
}

test('in the dark the lowest classes stand apart from the land', () => {
  const dark = CSS.slice(CSS.indexOf('@media'));
  for (const tone of ['t1', 't2']) {
    const ratio = (luminance(dark, tone) + 0.05) / (luminance(dark, 'land') + 0.05);
    assert.ok(ratio > 1.9, `${tone}: ${ratio}`);
  }
});
