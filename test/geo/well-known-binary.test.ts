import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlineOfWkb, pointOfWkb } from '../../src/geo/well-known-binary.ts';

const RING = [
  [-99.9502, 40.0498],
  [-99.9498, 40.0498],
  [-99.9498, 40.0502],
  [-99.9502, 40.0502],
  [-99.9502, 40.0498],
];

/** A polygon in one of the forms of well-known binary. `more`: further axes of each position. */
function polygonBytes(type: number, more: number, little: boolean, srid = false): Buffer {
  const whole = (value: number) => {
    const bytes = Buffer.alloc(4);
    return little
      ? bytes.fill(0).subarray(0, bytes.writeUInt32LE(value))
      : bytes.subarray(0, bytes.writeUInt32BE(value));
  };
  const double = (value: number) => {
    const bytes = Buffer.alloc(8);
    return bytes.subarray(0, little ? bytes.writeDoubleLE(value) : bytes.writeDoubleBE(value));
  };
  const positions = RING.flatMap((position) => [...position, ...Array(more).fill(7)].map(double));
  return Buffer.concat([
    Buffer.of(little ? 1 : 0),
    whole(type),
    ...(srid ? [whole(4326)] : []),
    whole(1),
    whole(5),
    ...positions,
  ]);
}

/** ISO and EWKB, with heights, measures and a reference system. */
const FORMS = [
  polygonBytes(3, 0, true),
  polygonBytes(3, 0, false),
  polygonBytes(1003, 1, true),
  polygonBytes(2003, 1, true),
  polygonBytes(3003, 2, false),
  polygonBytes(0x80000003, 1, true),
  polygonBytes(0xe0000003, 2, true, true),
];
const multi = (...parts: Buffer[]) => Buffer.concat([Buffer.of(1, 6, 0, 0, 0, parts.length, 0, 0, 0), ...parts]);

test('an outline is read in every form of well-known binary, and a point inside it is its location', () => {
  for (const bytes of [...FORMS, ...FORMS.map((form) => multi(form))]) {
    assert.deepEqual(outlineOfWkb(bytes).coordinates, [[RING]]);
    const remark = 'Looked up at a point inside its outline.';
    assert.deepEqual(pointOfWkb(bytes), { latitude: '40.05', longitude: '-99.95', remark });
  }
  assert.equal(outlineOfWkb(multi(...FORMS)).coordinates.length, FORMS.length);
});

test('an outline that is cut off or damaged has a problem, and is no crash', () => {
  const [whole] = FORMS;
  for (let cut = 5; cut < whole!.length; cut++) assert.match(pointOfWkb(whole!.subarray(0, cut)).problem!, /damaged/);
  const many = Buffer.from(whole!).fill(0xff, 5, 9);
  assert.match(pointOfWkb(many).problem!, /damaged/);
  assert.match(pointOfWkb(multi(Buffer.of(1, 1, 0, 0, 0))).problem!, /damaged/);
});
