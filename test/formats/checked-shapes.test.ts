import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { checkedShapes } from '../../src/formats/shapefile/checked-shapes.ts';

const [NONE, POINT, POLYGON] = [0, 1, 5];

interface Polygon {
  /** The first point of each part. */
  readonly parts: readonly number[];
  readonly points?: number;
  readonly statedParts?: number;
  readonly statedPoints?: number;
}

/** What follows the type of a polygon: box, numbers of parts and points, parts, points. */
function polygon({
  parts,
  points = 4,
  statedParts = parts.length,
  statedPoints = points,
}: Polygon): Buffer {
  // No byte of the points is 0, so that none of them can be taken for a part.
  const body = Buffer.alloc(40 + 4 * parts.length + 16 * points, 0xbf);
  body.writeInt32LE(statedParts, 32);
  body.writeInt32LE(statedPoints, 36);
  for (const [index, part] of parts.entries()) body.writeInt32LE(part, 40 + 4 * index);
  return body;
}

function shape(number: number, type: number, body: Buffer, statedBytes = body.length + 4): Buffer {
  const head = Buffer.alloc(12);
  head.writeInt32BE(number, 0);
  head.writeInt32BE(statedBytes / 2, 4);
  head.writeInt32LE(type, 8);
  return Buffer.concat([head, body]);
}

const point = (number: number) => shape(number, POINT, Buffer.alloc(16));

const refused = (what: string) => new PerilbookError('SERVICE_DATA', `It ${what}`, '');

/** How many shapes of a file are taken, or that it is refused. */
async function takenOf(
  type: number,
  shapes: readonly Buffer[],
  rows = shapes.length,
  length?: number,
) {
  const file = Buffer.concat([Buffer.alloc(100), ...shapes]);
  const header = { length: length ?? file.length, type, rows, tableHeader: 0, rowBytes: 0 };
  async function* chunks() {
    for (let at = 0; at < file.length; at += 7) yield file.subarray(at, at + 7);
  }
  const taken: Buffer[] = [];
  try {
    for await (const bytes of checkedShapes(chunks(), header, refused)) taken.push(bytes);
  } catch (error) {
    return (error as Error).message;
  }
  assert.ok(file.indexOf(Buffer.concat(taken)) === 0);
  return taken.length - 1;
}

test('a polygon is taken if its parts begin in order and its bytes hold all of them', async () => {
  const damaged = 'It is damaged: its shape 1 cannot be read';
  for (const [body, result] of [
    [polygon({ parts: [0] }), 1],
    [polygon({ parts: [0, 2, 4] }), 1],
    [polygon({ parts: [], points: 0 }), 1],
    [polygon({ parts: [0, 4, 0, 4] }), damaged],
    [polygon({ parts: [5] }), damaged],
    [polygon({ parts: [0], statedParts: 9 }), damaged],
    [polygon({ parts: [0], statedParts: -1 }), damaged],
    [polygon({ parts: [0], statedPoints: -1 }), damaged],
    [polygon({ parts: [0], statedPoints: 400 }), damaged],
    [polygon({ parts: [0, 2] }).subarray(0, -4), damaged],
    [polygon({ parts: [] }).subarray(0, 36), damaged],
  ] as const) {
    assert.equal(await takenOf(POLYGON, [shape(1, POLYGON, body)]), result, body.toString('hex'));
  }
});

test('shapes are taken up to the last row of the table, and none that the file cannot hold', async () => {
  const damaged = 'It is damaged: its shape 2 cannot be read';
  const long = shape(2, POINT, Buffer.alloc(16), 2_000);
  const longest = 64 * 1024 * 1024;
  for (const [what, shapes, rows, length, result] of [
    ['points', [point(1), point(2)], 2, undefined, 2],
    [
      'a shape without geometry at the end',
      [point(1), shape(2, NONE, Buffer.alloc(0))],
      2,
      undefined,
      2,
    ],
    [
      'one more than rows',
      [point(1), point(2)],
      1,
      undefined,
      'It has more shapes than the 1 rows in its table',
    ],
    ['something else than a second shape', [point(1), point(7)], 1, undefined, 1],
    ['a shape that is longer than the rest', [point(1), long], 2, undefined, damaged],
    ['a file that ends within a head', [point(1), point(2).subarray(0, 9)], 2, 200, damaged],
    [
      'too long for the memory',
      [point(1), shape(2, POINT, long, longest + 8)],
      2,
      2 * longest,
      damaged,
    ],
    ['another type', [point(1), shape(2, POLYGON, polygon({ parts: [0] }))], 2, undefined, damaged],
  ] as const) {
    assert.equal(await takenOf(POINT, shapes, rows, length), result, what);
  }
  assert.equal(await takenOf(POLYGON, [shape(1, NONE, Buffer.alloc(0))]), 1);
});
