import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listedStates,
  refuseLosses,
  refuseLossOfStates,
  refuseLostHazards,
} from '../../../src/data/loaders/load-losses.ts';
import type { DatasetPart } from '../../../src/data/tables/parts.ts';

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
