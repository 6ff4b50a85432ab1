import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listedStates,
  refuseLosses,
  refuseLossOfStates,
  refuseLostHazards,
  refuseOlderYears,
} from '../../../src/data/loaders/load-losses.ts';
import type { DatasetPart } from '../../../src/data/tables/parts.ts';
import type { DatasetName } from '../../../src/data/tables/records.ts';

const part = (state: string, rows = 10) => ({ state, rows }) as DatasetPart;

test('a load that loses a third of some states is refused with the first three of them, and names all to the program', () => {
  const states = ['AL', 'GA', 'MD', 'NC', 'VA'];
  const losing = (lost: number, now: number) => () => {
    const loaded = new Map(states.map((state, index) => [state, index < lost ? now : 10]));
    refuseLosses('sites:park', { parts: states.map((state) => part(state)), rows: 50 }, loaded, new Map());
  };
  const told = (...of: string[]) => of.map((state) => `${state} has 10 records here and 6 in the load`).join('; ');
  for (const [lost, problem] of [
    [1, told('AL')],
    [3, told('AL', 'GA', 'MD')],
    [5, `${told('AL', 'GA', 'MD')}; and 2 more`],
  ] as const) {
    const context = { dataset: 'sites:park', states: states.slice(0, lost) };
    assert.throws(losing(lost, 6), { message: `Cannot replace dataset "sites:park": ${problem}`, context });
  }
  losing(5, 7)();
  const whole = (rows: number) => () =>
    refuseLosses('sites:park', { parts: [part('US', 9)], rows: 9 }, new Map([['US', rows]]), new Map());
  whole(6)();
  assert.throws(whole(5), {
    message: /it has 9 records, and the load has 5$/,
    context: { dataset: 'sites:park', states: ['US'] },
  });
});

test('a load of the whole US is compared in each state of ten records or more; what may shrink is not', () => {
  const stateRows = { VA: 12, MD: 9, NC: 12 };
  const stored = { parts: [part('VA', 10), { ...part('US', 33), stateRows } as DatasetPart], rows: 43 };
  const load = (dataset: DatasetName, rows: Record<string, number>) => () =>
    refuseLosses(dataset, stored, new Map([['US', 40]]), new Map(Object.entries(rows)));
  load('sites:park', { VA: 7, NC: 8 })();
  load('readings', {})();
  load('records:wildfire.current', {})();
  const message = /VA has 10 records here and 6 in the load; NC has 12 records here and 0 in the load$/;
  assert.throws(load('sites:park', { VA: 6 }), { message, context: { dataset: 'sites:park', states: ['VA', 'NC'] } });
});

test('a load of years before those of the parts that it replaces is refused', () => {
  const parts = (text: string) =>
    text.split(', ').map((one) => ({ state: one.slice(0, 2), vintage: one.slice(3) }) as DatasetPart);
  for (const [loaded, stored, ...problems] of [
    ['VA 2022', 'VA 2023', 'VA is of 2023 here and of 2022 in the load'],
    ['VA 2005-2022', 'US 2006-2023', 'VA is of 2023 here and of 2022 in the load'],
    ['US 2022', 'VA 2023, MD 2021, NC 2024', 'VA is of 2023 here', 'NC is of 2024 here'],
    ['VA 2023', 'VA 2023'],
    ['VA 2022', 'US 2023, VA 2021'],
    ['VA 2022', 'MD 2023'],
    ['VA to 2022', 'VA 2023'],
    ['VA 2022-01', 'VA 2023'],
  ] as const) {
    const refused = () => refuseOlderYears('airQuality', parts(loaded), parts(stored));
    if (problems.length === 0) refused();
    else {
      const message = new RegExp(`: ${problems.join('.*; ')}`);
      assert.throws(refused, {
        message,
        context: { dataset: 'airQuality', states: problems.map(() => loaded.slice(0, 2)) },
      });
    }
  }
});

test('a hazard that a state of the load had keeps two thirds of its ratings', () => {
  const before = new Map([
    ['VA hail', 3],
    ['MD hail', 3],
    ['MD drought', 3],
  ]);
  const refused = (now: number, ...states: string[]) => {
    const left = new Map([...before.keys()].map((key) => [key, key === 'MD drought' ? 3 : now]));
    return () => refuseLostHazards(before, left, new Set(states));
  };
  refused(2, 'US')();
  refused(1, 'NC')();
  const of = (state: string) => `hail has 3 ratings in ${state} here and 1 in the load`;
  assert.throws(refused(1, 'VA'), {
    message: `Cannot replace dataset "nri": ${of('VA')}`,
    context: { dataset: 'nri', states: ['VA'] },
  });
  assert.throws(refused(1, 'US'), { message: `Cannot replace dataset "nri": ${of('VA')}; ${of('MD')}` });
});

test('a file of some states does not replace those of others in silence', () => {
  const refused = (own: string[], stored: string[], askedOf: string) => () =>
    refuseLossOfStates(
      'sites:park',
      new Set(own),
      stored.map((state) => part(state)),
      askedOf,
    );
  refused(['VA', 'MD'], ['VA'], '')();
  assert.throws(refused(['VA', 'MD'], ['MD', 'NC', 'GA'], ''), {
    message: 'Cannot replace dataset "sites:park": the file covers MD, VA, and the rows of GA, NC would be lost',
    hint: 'Add --states MD,VA to keep the other states, or --replace to drop them.',
    context: { dataset: 'sites:park', covered: ['MD', 'VA'] },
  });
  assert.throws(refused(['VA'], ['US'], 'parks'), {
    message: /the rows of all other states would be lost$/,
    hint: /^Check that the file/,
  });
  const states = ['VA', 'NC', 'MD', 'GA', 'FL', 'AL', 'SC', 'WV'];
  const listed = [6, 7, 8].map((count) => listedStates(states.slice(0, count)));
  const six = 'AL, FL, GA, MD, NC';
  assert.deepEqual(listed, [`${six}, VA`, `${six}, SC, VA`, `${six}, SC and 2 more`]);
});
