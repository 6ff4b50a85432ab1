import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName, nearestNames } from '../src/nearest-name.ts';

test('a misspelt name is known again, whatever its case and the spaces around it', () => {
  const known = ['id', 'Latitude', 'Longitude', ' lng '];
  assert.deepEqual(nearestNames('Lattitude', known), ['Latitude']);
  assert.deepEqual(nearestNames(' LATITUDE', known), ['Latitude']);
  assert.deepEqual(nearestNames('lgn', known), [' lng ']);
  assert.equal(nearestName('longitud', known), 'Longitude');
  assert.equal(nearestName('altitude', ['platitude', 'Latitude']), 'Latitude');
});

test('nothing is suggested that is not near, nothing twice, and nothing without a name', () => {
  assert.deepEqual(nearestNames('county', ['id', 'Latitude', '']), []);
  assert.deepEqual(nearestNames('', ['a', '']), ['a']);
  assert.deepEqual(nearestNames('x', ['', ' ']), []);
  assert.deepEqual(nearestNames('latt', ['lat', 'lat', 'late', 'lats', 'lata']), ['lat', 'late', 'lats']);
  assert.equal(nearestName('x', []), null);
});
