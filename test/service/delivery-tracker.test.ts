import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import type { DeliveryOutcomes } from '../../src/service/accounts/calls.ts';
import { DeliveryTracker } from '../../src/service/http/delivery-tracker.ts';

/** A connection whose end is decided by the test. */
class Connection extends EventEmitter {
  destroyed = false;
  errored: Error | null = null;
  readonly #tracker: DeliveryTracker;

  constructor(tracker: DeliveryTracker) {
    super();
    this.#tracker = tracker;
  }

  /** Watches a response with a charge; returns what ends the response. */
  answer(charge: number): () => void {
    const response = new EventEmitter();
    this.#tracker.watch(response as unknown as ServerResponse, this as unknown as Socket, charge);
    return () => response.emit('finish');
  }

  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** A tracker on time that the test moves, and the settlements that it asks for. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  const settled: DeliveryOutcomes[] = [];
  const errors: unknown[] = [];
  const fault: { error: Error | null; before: Promise<void> | null } = {
    error: null,
    before: null,
  };
  const settle = async ({ delivered, undelivered }: DeliveryOutcomes) => {
    await fault.before;
    if (fault.error !== null) throw fault.error;
    settled.push({ delivered: [...delivered], undelivered: [...undelivered] });
  };
  const tracker = new DeliveryTracker(settle, (error) => errors.push(error));
  const connect = () => new Connection(tracker);
  /** A client that leaves while it waits for the answer with this charge. */
  const leave = (charge: number) => {
    const connection = connect();
    connection.answer(charge);
    connection.close();
  };
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    // What failed is known some promises later.
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { tracker, connect, leave, settled, errors, fault, pass };
}

test('what ends together is settled together, and what ends meanwhile after that', async (t) => {
  const { connect, settled, fault, pass } = setUp(t);
  const connection = connect();
  const ends = [1, 2, 3].map((charge) => connection.answer(charge));
  ends[0]!();
  ends[1]!();
  const { promise, resolve } = Promise.withResolvers<void>();
  fault.before = promise;
  await pass(1);
  ends[2]!();
  await pass(1_000);
  assert.deepEqual(settled, []);
  resolve();
  await pass(0);
  await pass(1);
  assert.deepEqual(settled, [
    { delivered: [1, 2], undelivered: [] },
    { delivered: [3], undelivered: [] },
  ]);
});

test('what ended is settled before the next turn of the event loop, in which its connection may call again', async (t) => {
  // A timer would come after that.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const settled: number[] = [];
  const tracker = new DeliveryTracker(
    async ({ delivered }) => void settled.push(...delivered),
    () => {},
  );
  new Connection(tracker).answer(1)();
  await new Promise(setImmediate);
  assert.deepEqual(settled, [1]);
});

test('only a response that ended on a working connection is delivered, and each ends once', async (t) => {
  const { connect, settled, pass } = setUp(t);
  const gone = connect();
  gone.destroyed = true;
  gone.answer(1);
  const destroyed = connect();
  const endDestroyed = destroyed.answer(2);
  destroyed.destroyed = true;
  endDestroyed();
  const broken = connect();
  const endBroken = broken.answer(3);
  broken.errored = new Error('EPIPE');
  endBroken();
  await pass(1);
  assert.deepEqual(settled, [{ delivered: [], undelivered: [1, 2, 3] }]);
  const closed = connect();
  const endClosed = closed.answer(4);
  closed.close();
  await pass(1);
  // Its number is given again, to an answer that is on its way: the late end of the first says nothing of it.
  connect().answer(4);
  endClosed();
  destroyed.close();
  await pass(60_000);
  assert.deepEqual(settled.slice(1), [{ delivered: [], undelivered: [4] }]);
});

test('settling that fails is reported and tried again half a second later, not at every client that leaves', async (t) => {
  const { connect, leave, settled, errors, fault, pass } = setUp(t);
  fault.error = new Error('another process writes');
  const connection = connect();
  connection.answer(1)();
  await pass(5);
  assert.equal(errors.length, 1);
  leave(2);
  await pass(499);
  assert.equal(errors.length, 1);
  fault.error = null;
  await pass(1);
  assert.deepEqual([settled, errors.length], [[{ delivered: [1], undelivered: [2] }], 1]);
  leave(3);
  await pass(1);
  assert.deepEqual(
    settled.slice(1),
    [{ delivered: [], undelivered: [3] }],
    'once it succeeded, at once again',
  );
});

test('at its end what has been delivered is settled, and what has not is taken back, once', async (t) => {
  const { tracker, connect, settled, errors, fault, pass } = setUp(t);
  const connection = connect();
  connection.answer(1)();
  const endLate = connection.answer(2);
  assert.equal(connection.listenerCount('close'), 1, 'however many answers it has carried');
  await tracker[Symbol.asyncDispose]();
  endLate();
  await pass(1_000);
  await tracker[Symbol.asyncDispose]();
  assert.deepEqual(settled, [{ delivered: [1], undelivered: [2] }]);
  fault.error = new Error('another process writes');
  connection.answer(3);
  await tracker[Symbol.asyncDispose]();
  assert.deepEqual(errors, [fault.error]);
});
