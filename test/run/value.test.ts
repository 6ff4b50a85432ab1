import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currencyOfMark, isMarkOf } from '../../src/base/currencies.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { amountCurrency, currencyColumn, valueCurrencies } from '../../src/run/scan/currency.ts';
import {
  currencyMark,
  decimalsFor,
  likelyOrder,
  parseValue,
  valueColumns,
  valueOfUnits,
} from '../../src/run/scan/value.ts';
import { fc } from '../properties.ts';

/** What the table does, with a Map of texts. */
function countedBy(
  cells: readonly Cell[],
): Map<string, { number: number; rows: number; cell: Cell }> {
  const known = new Map<string, { number: number; rows: number; cell: Cell }>();
  for (const cell of cells) {
    const key = `${cell.lat7},${cell.lng7}`;
    const seen = known.get(key);
    if (seen) seen.rows++;
    else known.set(key, { number: known.size, rows: 1, cell });
  }
  return known;
}

function assertSameAsMap(cells: readonly Cell[]): void {
  const table = new CellTable();
  const numbers = cells.map((cell) => table.add(cell));
  const known = countedBy(cells);
  const numbered = cells.map(({ lat7, lng7 }) => known.get(`${lat7},${lng7}`)!.number);
  assert.deepEqual([numbers, table.size], [numbered, known.size]);
  const expected = [...known.values()];
  const first = expected.map(({ cell }) => cell);
  for (const from of [0, 2, known.size]) {
    for (const to of [2, cells.length + 1])
      assert.deepEqual(table.cells(from, to), first.slice(from, to));
  }
  for (const { number, rows, cell } of expected) {
    assert.deepEqual(
      [table.numberOf(cell), table.rows(number), table.cell(number)],
      [number, rows, cell],
    );
  }
  for (const { number, cell } of expected.toReversed()) assert.equal(table.numberOf(cell), number);
  assert.equal(table.numberOf({ lat7: 900_000_001, lng7: 0 }), -1);
}

const degrees = (most: number) => fc.integer({ min: -most * 1e7, max: most * 1e7 });
const anyCell = fc.tuple(degrees(90), degrees(180)).map(([lat7, lng7]): Cell => ({ lat7, lng7 }));
/** Cells of one street: many are the same, the others differ in their low digits only. */
const step = fc.integer({ min: 0, max: 7 });
const streetCell = fc.tuple(step, step).map(
  ([north, west]): Cell => ({
    lat7: 340_000_000 + north * 1_000,
    lng7: -1_180_000_000 - west * 1_000,
  }),
);

test('any cells: numbered in the order of first sight, each with its rows', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyCell, streetCell), { maxLength: 400 }), assertSameAsMap),
  );
});

test('the table grows: more cells than it began with, in a grid and scattered, each seen more than once', () => {
  const grid = Array.from({ length: 20_000 }, (_, i) => ({
    lat7: 250_000_000 + (i % 150) * 1_000,
    lng7: -1_200_000_000 + Math.floor(i / 150) * 1_000,
  }));
  assertSameAsMap([...grid, ...grid.slice(0, 5_000).reverse()]);
  // Steps of 2^32 / golden ratio reach every part of the earth, none of them twice.
  const scattered = Array.from({ length: 5_000 }, (_, i) => ({
    lat7: (Math.imul(i, 0x9e3779b1) % 900_000_000) + 0,
    lng7: (Math.imul(i + 1, 0x9e3779b1) % 1_800_000_000) + 0,
  }));
  assertSameAsMap([...scattered, ...scattered.slice(2_500)]);
});

test('corners of the earth are cells as others are, and exchanged halves are not the same cell', () => {
  const corners = [-900_000_000, 0, 900_000_000].flatMap((lat7) =>
    [-1_800_000_000, 0, 1_800_000_000].map((lng7) => ({ lat7, lng7 })),
  );
  assertSameAsMap([...corners, { lat7: 1, lng7: 2 }, { lat7: 2, lng7: 1 }, ...corners]);
});

test('the cell at 0, 0 is not found where it was not added, right after the last cell', () => {
  const table = new CellTable();
  for (const lat7 of [1, 2, 3]) table.add({ lat7, lng7: 0 });
  assert.deepEqual(
    [table.numberOf({ lat7: 3, lng7: 0 }), table.numberOf({ lat7: 0, lng7: 0 })],
    [2, -1],
  );
});

test('the value of all cells is summed where the table is full to its last place', () => {
  const table = new CellTable();
  for (let cell = 0; cell < 1024; cell++) table.addAt(cell, 0, 1e9);
  table.roundValues();
  assert.deepEqual([table.decimals, table.total()], [2, 1024 * 1e11]);
});

const tiv = { kind: 'tiv' } as const;

test('the value of a row is the sum of the columns of OED or CEDE, else the column called TIV', () => {
  const columns = (names: readonly string[]) => valueColumns(names, tiv, 'book.csv');
  assert.deepEqual(columns(['id', 'BuildingTIV', 'ContentsTIV', 'TIV']), [1, 2]);
  assert.deepEqual(columns(['BuildingValue', 'lat', 'timeelementvalue']), [0, 2]);
  assert.deepEqual(columns(['id', 'tiv', 'lat']), [1]);
  assert.deepEqual(columns(['TIV', 'lat']), [0]);
  assert.deepEqual(
    columns(['id', 'Building TIV', 'contents-tiv', 'BI_TIV', 'Other TIV 2', ' T.I.V']),
    [1, 2, 3],
  );
  assert.deepEqual(columns(['id', 'T I V']), [1]);
  // The same sum in dollars too counts once.
  assert.deepEqual(
    columns(['BuildingTIV (USD)', 'ContentsTIV $', 'BuildingTIV', 'ContentsTIV (EUR)']),
    [0, 1],
  );
  const recognized = (...names: string[]) =>
    valueColumns(names, { kind: 'recognized' }, 'book.csv');
  assert.deepEqual(
    [recognized('id', 'BITIV', 'price'), recognized('id', 'price'), recognized('id')],
    [[1], [1], []],
  );
  assert.deepEqual(valueColumns(['TIV'], { kind: 'file' }, 'book.csv'), []);
  assert.throws(() => columns(['id', 'value']), {
    ...{ code: 'INPUT_COLUMNS', hint: /--order-by COLUMN/, context: { file: 'book.csv' } },
  });
});

test('a value column that is not there is refused with the name that was meant', () => {
  const order = { kind: 'column', column: 'Premum', direction: 'desc' } as const;
  assert.throws(() => valueColumns(['id', 'Premium'], order, 'book.csv'), {
    ...{ message: /did you mean Premium/, context: { file: 'book.csv', column: 'Premum' } },
  });
  assert.deepEqual(valueColumns(['id', 'PREMUM'], order, 'book.csv'), [1]);
  assert.deepEqual(valueColumns(['premum', 'id'], order, 'book.csv'), [0]);
  assert.deepEqual(valueColumns(['premum', 'Premum'], order, 'book.csv'), [1]);
});

test('values: digits, with thousands and a dollar or without; nothing is 0, anything else is no number', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['', 0],
    [' 1250000 ', 1_250_000],
    ['1,250,000', 1_250_000],
    ['$1,250,000.50', 1_250_000.5],
    ['-$3', -3],
    ['1e6', 1_000_000],
    ['.5', 0.5],
    ['1e-2', 0.01],
    ['2e12', 2e12],
    ['+ $ 7', 7],
    ['5$', 5],
    ['-5 €', -5],
    ['€1000', 1_000],
    ['USD 500000', 500_000],
    ['500,000.5USD', 500_000.5],
    ['1 000 000', 1_000_000],
    ['1\u202f000\u202f000 \u20ac', 1_000_000],
    ['5 m', null],
    ['APT 5', null],
    ['CAPE5', null],
    ['$5 USD', null],
    ['-$-3', null],
    ['12 34', null],
    ['1,250 000', null],
    ['1.234,5', null],
    ['US$5', 5],
    ['1,25', null],
    ['1.250.000', null],
    ['n/a', null],
    ['.', null],
    ['1e999', null],
  ];
  for (const [text, value] of cases) assert.equal(parseValue(text), value, text);
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (value) => {
      assert.equal(parseValue(String(value)), value);
      assert.equal(parseValue(value.toLocaleString('en-US')), value);
    }),
  );
});

test('a long text is no amount, and no name of a value', () => {
  const blanks = ' '.repeat(100_000);
  for (const text of [`5${blanks}x`, `$${blanks}1`, `5${blanks}1`, `${'1'.repeat(100_000)}x`]) {
    assert.equal(parseValue(text), null);
    assert.equal(currencyMark(text), '');
  }
  const grouped = (groups: number) => `€1,${Array(groups).fill('111').join()}`;
  assert.equal(parseValue(` ${grouped(63)} `), Number(`1${'111'.repeat(63)}`));
  assert.equal(currencyMark(` ${grouped(63)} `), '€');
  assert.equal(parseValue(grouped(64)), null);
  assert.equal(currencyMark(grouped(64)), '');
  assert.equal(likelyOrder([`price${blanks}x`]), null);
});

test('values of a file with decimal commas: dots are no decimal signs there, and one kind of groups is in a number', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['1.234.567,00', 1_234_567],
    ['1.234', 1_234],
    ['12,5', 12.5],
    ['1,234', 1.234],
    ['€ 1.234,50', 1_234.5],
    ['1 234 567,89 EUR', 1_234_567.89],
    [',5', 0.5],
    ['1234.56', null],
    ['1,234,567', null],
    ['1.234 567', null],
  ];
  for (const [text, value] of cases) assert.equal(parseValue(text, 'comma'), value, text);
  const marks = fc.constantFrom('', '€', '$', 'EUR ', 'USD ', 'CHF');
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 1e12 }),
      marks,
      fc.boolean(),
      (cents, mark, isBefore) => {
        const value = cents / 100;
        for (const [language, decimal] of [
          ['en-US', 'point'],
          ['de-DE', 'comma'],
          ['fr-FR', 'comma'],
        ] as const) {
          const text = value.toLocaleString(language, { minimumFractionDigits: 2 });
          assert.equal(parseValue(isBefore ? mark + text : text + mark, decimal), value);
        }
      },
    ),
  );
});

test('the currency that stands at an amount, and that of a file whose columns do not say it', () => {
  for (const [text, mark] of [
    ['1250000', ''],
    ['1,250.5', ''],
    ['1e6', ''],
    ['$5', '$'],
    ['-$5', '$'],
    ['5 €', '€'],
    ['USD 5', 'USD'],
    [' 5,5EUR ', 'EUR'],
    ['C$5', 'C$'],
    ['-US$ 5', 'US$'],
  ] as const)
    assert.equal(currencyMark(text), mark, text);
  const found = (names: string[], ...texts: string[]) => {
    const { given, assumed } = amountCurrency({ currency: null }, names, texts);
    return given ?? assumed;
  };
  assert.equal(found(['price'], '5', '1.234,50 €', '€7', '$9'), 'EUR');
  assert.equal(found(['Price (EUR)'], '$9'), 'EUR');
  assert.equal(found(['TIV [£]']), 'GBP');
  assert.equal(found(['price'], 'C$1,000', '5'), 'CAD');
  assert.equal(found(['price'], '5', 'APT 5', 'n/a'), null);
  assert.equal(amountCurrency({ currency: 'CAD' }, ['Price (EUR)'], ['€5']).given, 'CAD');
  assert.deepEqual(['$', 'US$', '₹', 'Kr', 'USD'].map(currencyOfMark), [
    'USD',
    'USD',
    'INR',
    null,
    'USD',
  ]);
  assert.ok(
    isMarkOf('$', 'CAD') &&
      isMarkOf('CA$', 'CAD') &&
      isMarkOf('C$', 'CAD') &&
      !isMarkOf('CA$', 'USD') &&
      !isMarkOf('€', 'USD'),
  );
});

test('sums of values are exact to the cent, in any order and grouping, up to trillions', () => {
  const cents = fc.array(fc.integer({ min: -1e9, max: 1e11 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(cents, fc.nat(), (values, seed) => {
      const table = new CellTable();
      for (const [cell, value] of values.entries()) table.addAt(cell, 0, value / 100);
      table.roundValues();
      const order = [...values.keys()].sort(
        (a, b) => ((a * 7_919 + seed) % 997) - ((b * 7_919 + seed) % 997),
      );
      const sumOf = (cells: readonly number[]) =>
        cells.reduce((sum, cell) => sum + table.value(cell), 0);
      const exact = values.reduce((sum, value) => sum + value, 0);
      assert.equal(sumOf(order), table.total());
      assert.equal(sumOf(order.slice(0, 7)) + sumOf(order.slice(7)), table.total());
      assert.equal(valueOfUnits(table.total(), table.decimals), exact / 100);
    }),
  );
});

test('values that cancel out are as many units as others: their unit is of the sum without signs', () => {
  const table = new CellTable();
  for (const [cell, value] of [9e12, 0.08, -9e12].entries()) table.addAt(cell, 0, value);
  table.roundValues();
  assert.deepEqual([table.decimals, table.value(0), table.value(1)], [2, 9e14, 8]);
});

test('a column of small numbers keeps its order and its shares', () => {
  const table = new CellTable();
  for (const [cell, millions] of [0.0042, 0.0007, 0.0001].entries()) table.addAt(cell, 0, millions);
  table.roundValues();
  assert.deepEqual([table.value(0), table.value(1), table.value(2)], [4_200, 700, 100]);
  assert.deepEqual([1e7, 1e7 + 1, 1e12].map(decimalsFor), [6, 5, 2]);
});

test('a row without a currency is of the first one, wherever it is', () => {
  const currencies = valueCurrencies();
  const differs = ['', 'USD', ' ', 'usd ', 'CAD', undefined, 'EUR'].map((code) =>
    currencies.add(code, 0, 1),
  );
  assert.deepEqual(differs, [false, false, false, false, true, false, true]);
  assert.equal(currencies.code, 'USD');
  const counted = Object.fromEntries(currencies.all.map(({ code, rows }) => [code, rows]));
  assert.deepEqual(counted, { '': 3, USD: 2, CAD: 1, EUR: 1 });
});

test('the column that is likely the value: the surest name, then the newest year', () => {
  for (const [columns, found] of [
    [['id', ' TIV '], 'tiv'],
    [['OtherTIV', 'price'], 'tiv'],
    [['price', 'Contents TIV', 'tiv_2020'], 'tiv'],
    [['BuildingValue'], 'BuildingValue'],
    [['price', 'Total Insured Value'], 'Total Insured Value'],
    [['tiv_2023', 'TIV 2024', 'tiv_2022'], 'TIV 2024'],
    [['tiv2022', 'TIV 2024'], 'TIV 2024'],
    [['tiv_98', 'tiv_2019', 'tiv_21'], 'tiv_21'],
    [['sum insured', 'tiv_2020'], 'tiv_2020'],
    [['Replacement.Cost USD', 'market value'], 'Replacement.Cost USD'],
    [['price', 'tiv_amount'], 'tiv_amount'],
    [['assessed_value_2019', 'Assessed - Value 2021'], 'Assessed - Value 2021'],
    [['List Price', 'price'], 'List Price'],
    [['tiv_70', 'tiv_98'], 'tiv_98'],
    [['tiv_2022_b', 'tiv_a_2021'], 'tiv_a_2021'],
    [['tiv_2020_note', 'total insured value note', 'sum insured'], 'sum insured'],
    [['salesprice2020'], 'salesprice2020'],
    [['price', 'TIV (USD)'], 'tiv'],
    [['Building TIV ($)'], 'tiv'],
    [['price', 'Total Insured Value (US$)'], 'Total Insured Value (US$)'],
    [['price', 'Replacement Cost [USD]'], 'Replacement Cost [USD]'],
    [['Price $', 'Replacement Cost (EUR)'], 'Price $'],
    [['TIV (USD) 2023', 'TIV (USD) 2024'], 'TIV (USD) 2024'],
    [['priceless', 'unit_price', 'my_assessed_value', 'subtotal_value'], null],
  ] as const) {
    assert.equal(likelyOrder(columns), found, columns.join());
  }
  const surer =
    'totalinsuredvalue totalinsuredvalue2020 insuredvalue suminsured replacementcost totalvalue buildingvalue2020';
  for (const name of `${surer} assetvalueusd insuredvaluex tivamount totalassessedvalue marketvalue2021`.split(
    ' ',
  )) {
    assert.equal(likelyOrder(['price', name]), name);
  }
  assert.equal(likelyOrder(['Value', 'price']), 'price');
  for (const name of ['value', 'Value', 'VALUE_USD', 'value2024'])
    assert.equal(likelyOrder(['id', name]), name);
  for (const name of ['price', 'saleprice']) assert.equal(likelyOrder([name]), name);
  const none =
    'subtotal insured value,my tiv 2020,my tiv x,sum insured note,assessed value note,tiv a%';
  assert.equal(likelyOrder(none.split(',')), null);
});

test('the column of currencies by its name, and the values of each currency by cell', () => {
  const columns = [['id', 'Currency Code', 'Loc_Currency'], ['CURRENCY'], ['concurrency', 'id']];
  assert.deepEqual(columns.map(currencyColumn), [2, 0, null]);
  const currencies = valueCurrencies();
  const rows = ['USD', 'CAD', 'CAD', 'CAD', 'USD'].map(
    (code, row) => [code, row % 2, 10 ** row] as const,
  );
  for (const row of rows) currencies.add(...row);
  const [first, second, ...others] = currencies.all.map(
    ({ values }) => values && Object.fromEntries(values),
  );
  assert.deepEqual([first, second, others], [null, { 0: 100, 1: 1_010 }, []]);
  for (let code = 0; code < 60; code++) currencies.add(`C${code}`, 0, 1);
  const last = currencies.all.at(-1)!;
  assert.deepEqual([currencies.all.length, last.code, last.rows], [51, 'other', 12]);
});
