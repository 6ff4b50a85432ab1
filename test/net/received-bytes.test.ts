import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ReceivedBytes } from '../../src/net/received-bytes.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('one-byte chunks of a body do not keep the buffers that they were read into', async () => {
  const read: WeakRef<ArrayBufferLike>[] = [];
  const bytes = new ReceivedBytes();
  for (let i = 0; i < 1_000; i++) {
    const buffer = Buffer.alloc(65_536, i);
    read.push(new WeakRef(buffer.buffer));
    bytes.add(buffer.subarray(i, i + 1));
  }
  // A WeakRef holds what it refers to until the turn of the event loop ends.
  await new Promise(setImmediate);
  collectGarbage();
  const kept = read.filter((ref) => ref.deref() !== undefined).length;
  assert.ok(kept < 100, `${kept} of 1,000 buffers are kept`);
  assert.equal(bytes.length, 1_000);
  assert.deepEqual(bytes.concat(), Buffer.from(Array.from({ length: 1_000 }, (_, i) => i)));
});
