import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openInput } from '../../src/rows/files/input-file.ts';
import { setGeoMetadata } from '../../src/rows/parquet/edit.ts';
import { openParquet } from '../../src/rows/parquet/footer.ts';
import {
  CHUNK,
  CHUNK_META,
  ELEMENT,
  FOOTER,
  KEY_VALUE,
  ROW_GROUP,
} from '../../src/rows/parquet/format.ts';
import { makeStruct, type ThriftStruct, writeThrift } from '../../src/rows/parquet/thrift.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a row group of more rows than are joined in memory is refused, and a total of 0 is none', async (t) => {
  const file = join(temporaryFolder(t), 'in.parquet');
  const rowsOf = async (rows: number, total = rows) => {
    const root = makeStruct(ELEMENT.name.make('schema'), ELEMENT.children.make(1));
    const leaf = makeStruct(ELEMENT.type.make(1), ELEMENT.name.make('id'));
    const { values, size, dataStart } = CHUNK_META;
    const meta = makeStruct(values.make(rows), size.make(0), dataStart.make(4));
    const chunks = [makeStruct(CHUNK.meta.make(meta))];
    const group = makeStruct(ROW_GROUP.chunks.make(chunks), ROW_GROUP.rows.make(rows));
    const footer = writeThrift(
      makeStruct(
        FOOTER.schema.make([root, leaf]),
        FOOTER.rows.make(total),
        FOOTER.rowGroups.make([group]),
      ),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    writeFileSync(file, Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]));
    const { rowGroups } = await openParquet(await openInput(file));
    return rowGroups.map((of) => of.rows);
  };
  const most = 16 * 1024 * 1024;
  assert.deepEqual([await rowsOf(most), await rowsOf(3, 0)], [[most], [3]]);
  await assert.rejects(rowsOf(most + 1), { code: 'INPUT_UNREADABLE', message: /over 16777216/ });
  await assert.rejects(rowsOf(3, 4), { message: /it states 4 rows, and its row groups have 3/ });
});

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
