import { once } from 'node:events';
import { type FaultCase, fault } from './fault-case.ts';
import { asHttp, type Passage } from './fault-proxy.ts';

const GB = 2 ** 30;

/** Lets only a part of the true answer through, then does something to the socket. */
const cutAt = (share: number, end: (passage: Passage) => void) => async (passage: Passage) => {
  const whole = asHttp(await passage.ask());
  const head = whole.indexOf('\r\n\r\n') + 4;
  const at = share <= 0 ? Math.floor(head / 2) : head + Math.floor((whole.length - head) * share);
  passage.write(whole.subarray(0, at));
  // What was written must have arrived before a reset takes it back.
  if (share < 1 || end === reset) await passage.clock.sleep(2_000);
  end(passage);
};

const reset = ({ socket }: Passage) => void socket.resetAndDestroy();
const close = ({ socket }: Passage) => void socket.end();

/** Often enough that no silence is noticed, and seldom enough that 150 s of it make a quick test. */
const DRIP_MS = 5_000;

/** Writes byte by byte until nobody listens. */
const drip = (head: string) => async (passage: Passage) => {
  await passage.ask();
  passage.write(head);
  while (!passage.socket.destroyed) {
    passage.write('x');
    await passage.clock.sleep(DRIP_MS);
  }
};

/** Pours as fast as it is taken, up to 2 GB. */
const pour = (head: string, chunk: Buffer) => (passage: Passage) => passage.clock.during(flood(head, chunk, passage));

async function flood(head: string, chunk: Buffer, passage: Passage): Promise<void> {
  const { socket } = passage;
  const closed = once(socket, 'close').catch(() => {});
  passage.write(head);
  for (let sent = 0; sent < 2 * GB && !socket.destroyed; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
  }
  socket.end();
}

const afterAsking = (act: (passage: Passage) => Promise<void>) => async (passage: Passage) => {
  await passage.ask();
  await act(passage);
};

const BLANKS = Buffer.alloc(65_536, ' ');
const CHUNKED = Buffer.concat([Buffer.from('10000\r\n'), BLANKS, Buffer.from('\r\n')]);

/** Interim answers, and then the true one. */
const behind = (interim: string) => async (passage: Passage) => {
  const answer = asHttp(await passage.ask());
  passage.write(Buffer.concat([Buffer.from(interim), answer]));
};

/** The connection, before, in and after the answer. */
export const CONNECTION: readonly FaultCase[] = [
  fault('reset before the service is asked', 'doubt', 'bounded', reset),
  fault('closed before the service is asked', 'doubt', 'bounded', close),
  fault('reset before the answer', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    reset(passage);
  }),
  fault('reset in the head', 'doubt', 'exact', cutAt(0, reset)),
  fault('reset in the body', 'doubt', 'exact', cutAt(0.5, reset)),
  fault('closed in the head', 'doubt', 'exact', cutAt(0, close)),
  fault('closed in the body', 'doubt', 'exact', cutAt(0.5, close)),
  fault('closed before the last byte', 'doubt', 'exact', cutAt(0.9999, close)),
  // A reset may overtake the answer that it follows.
  fault('reset after the body', 'mostly', 'bounded', cutAt(1, reset), { alone: true }),
  fault('closed after the body', 'fine', 'exact', cutAt(1, close), { delivers: true, alone: true }),
  fault('never an answer', 'doubt', 'exact', async (passage) => void (await passage.ask()), { alone: true }),
  fault('a head byte by byte', 'doubt', 'exact', drip('HTTP/1.1 200 OK\r\nx-slow: '), { alone: true }),
  fault('a body byte by byte', 'doubt', 'exact', drip('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n'), {
    alone: true,
  }),
  fault(
    '"still at it" without end',
    'doubt',
    'exact',
    async (passage) => {
      await passage.ask();
      while (!passage.socket.destroyed) {
        passage.write('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n');
        await passage.clock.sleep(DRIP_MS);
      }
    },
    { alone: true },
  ),
  fault('another protocol', 'once', 'exact', async (passage) => {
    await passage.ask();
    passage.write('220 mail.example.com ESMTP\r\n');
    passage.socket.end();
  }),
  fault('an offer to change the protocol', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    passage.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  }),
  fault('a header of a megabyte', 'once', 'exact', async (passage) => {
    await passage.ask();
    passage.write(`HTTP/1.1 200 OK\r\nx-long: ${'y'.repeat(2 ** 20)}\r\n\r\n`);
    passage.socket.end();
  }),
  fault('hints, and then the answer', 'fine', 'exact', behind('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n'), {
    delivers: true,
  }),
  fault('100 Continue that nobody asked for', 'doubt', 'exact', behind('HTTP/1.1 100 Continue\r\n\r\n')),
  fault('a length that is given twice', 'once', 'exact', async (passage) => {
    const text = asHttp(await passage.ask()).toString('latin1');
    passage.write(Buffer.from(text.replace(/content-length: \d+\r\n/i, '$&$&'), 'latin1'));
  }),
  fault('two lengths that differ', 'once', 'exact', async (passage) => {
    const text = asHttp(await passage.ask()).toString('latin1');
    passage.write(Buffer.from(text.replace(/content-length: \d+\r\n/i, '$&content-length: 7\r\n'), 'latin1'));
  }),
  fault(
    'two answers to one question',
    'fine',
    'exact',
    async (passage) => {
      const answer = await passage.ask();
      passage.write(Buffer.concat([asHttp(answer), asHttp({ ...answer, body: Buffer.from('{}') })]));
    },
    { delivers: true, alone: true },
  ),
  fault(
    '2 GB declared',
    'once',
    'exact',
    afterAsking(pour(`HTTP/1.1 200 OK\r\ncontent-length: ${2 * GB}\r\n\r\n`, BLANKS)),
    {
      alone: true,
    },
  ),
  fault(
    '2 GB sent',
    'once',
    'exact',
    afterAsking(pour('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', CHUNKED)),
    {
      alone: true,
    },
  ),
  fault(
    'a failure with 2 GB of words',
    'upstream',
    'free',
    pour('HTTP/1.1 502 No\r\ntransfer-encoding: chunked\r\n\r\n', CHUNKED),
    {
      alone: true,
    },
  ),
];
