import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setGeoMetadata } from '../../src/rows/parquet/edit.ts';
import { ELEMENT, FOOTER, KEY_VALUE } from '../../src/rows/parquet/format.ts';
import { makeStruct, type ThriftStruct } from '../../src/rows/parquet/thrift.ts';

test('the geometry of a GeoParquet input stays the primary one; metadata in another form is left as it is', () => {
  const footer = (geo: string): ThriftStruct => {
    const elements = ['schema', 'geometry', 'hazard_geometry'].map((name) =>
      makeStruct(ELEMENT.name.make(name)),
    );
    const entry = makeStruct(KEY_VALUE.key.make('geo'), KEY_VALUE.value.make(geo));
    return makeStruct(FOOTER.schema.make(elements), FOOTER.keyValues.make([entry]));
  };
  const after = (geo: string, points: readonly string[] = []) => {
    const edited = footer(geo);
    setGeoMetadata(edited, points);
    return (FOOTER.keyValues.read(edited) ?? []).map((entry) => KEY_VALUE.value.read(entry));
  };
  const own = { encoding: 'WKB', geometry_types: ['Polygon'], crs: null };
  const geo = {
    version: '1.0.0',
    primary_column: 'geometry',
    columns: { geometry: own, gone: own },
  };
  const [text] = after(JSON.stringify(geo), ['hazard_geometry']);
  const { primary_column: primary, columns } = JSON.parse(text!);
  assert.deepEqual([primary, Object.keys(columns)], ['geometry', ['geometry', 'hazard_geometry']]);
  assert.deepEqual(columns.geometry, own);
  for (const other of [
    'not JSON',
    '{"columns":{}}',
    '{"primary_column":"geometry","columns":null}',
  ])
    assert.deepEqual(after(other, ['hazard_geometry']), [other]);
  assert.deepEqual(after(JSON.stringify({ ...geo, columns: { gone: own } })), []);
});
