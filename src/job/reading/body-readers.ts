import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { MAX_BODY_BYTES } from '../../contract/body-limits.ts';
import { type EnvelopeReading, unread } from '../../fetch/envelope.ts';
import { type ParsedAnswer, type ReadRequest, take } from './parsed-answer.ts';

/** Reads the bodies of answers. */
export interface BodyReader extends AsyncDisposable {
  /** Never rejects. A body that is read elsewhere is handed over: it is empty here afterwards. */
  read(task: ReadRequest, body: Buffer): Promise<EnvelopeReading<ParsedAnswer>>;
  /** Ends the workers; a body that is still being read comes back as unread. */
  close(): Promise<void>;
}

export interface BodyReaderOptions {
  /** Bodies of at least so many bytes are read in a worker. */
  readonly fromBytes?: number;
  readonly workers?: number;
  /** Longest that a worker may read one body, in milliseconds. */
  readonly limitMs?: number;
  /** Most bytes that all workers read at one time; a larger body is read alone. */
  readonly mostBytes?: number;
  /** Megabytes of the heap of one worker. */
  readonly heapMb?: number;
  /** The worker's module; only tests name another. */
  readonly module?: URL;
}

/** Reading costs about 4 ms a megabyte here (6 MB: 21 ms on the loop, 24 ms by way of a worker), so a body below this holds
 * the loop for a millisecond and would win nothing. Singles and standard bundles mostly lie below. */
const FROM_BYTES = 256 * 1024;

/** The largest body there may be takes some 2 s here; a bundle of 6 MB 0.05 s. A claim's lease leaves a minute for it. */
const LIMIT_MS = 15_000;

/** Four bundles of 7 MB at a time; the largest bodies are read one after the other. */
const MOST_BYTES = MAX_BODY_BYTES;

/** More than any body that is parsed can need (`contract/body-limits.ts`): 400 MB. It must not be less, because V8 ends the
 * whole process, not the worker, where JSON.parse finds the heap full: it cannot be stopped half-way. */
const HEAP_MB = 1_024;

/** A body of 6 MB is some 40 MB of objects, all of which end together: with room for them, fewer are copied on the way (5 %
 * of the time of reading one). */
const YOUNG_MB = 64;

/** Compiled, the worker is a .js beside this file; run from source, a .ts. */
const MODULE = new URL(`./body-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

interface Errand {
  readonly task: ReadRequest;
  readonly body: ArrayBuffer;
  /** Its length, which a body that was handed over has no more. */
  readonly bytes: number;
  readonly end: (reading: EnvelopeReading<ParsedAnswer>) => void;
}

/**
 * Reads small bodies at once and large ones in workers, as many as there are cores, each started when it is first needed.
 * A body whose worker dies is a paid answer that nobody can read: it ends as `unread`, is never sent for again by itself,
 * and the next body gets a new worker.
 */
export function createBodyReader(options: BodyReaderOptions = {}): BodyReader {
  const { fromBytes = FROM_BYTES, workers: most = availableParallelism(), limitMs = LIMIT_MS } = options;
  const { heapMb = HEAP_MB, mostBytes = MOST_BYTES, module = MODULE } = options;
  const waiting: Errand[] = [];
  const idle: Worker[] = [];
  /** `limit` runs from when the body was handed over; null before that. */
  const busy = new Map<Worker, { errand: Errand; limit: NodeJS.Timeout | null }>();
  const closing = new Set<Promise<unknown>>();
  let closed = false;

  function start(errand: Errand): void {
    const worker = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    busy.set(worker, { errand, limit: null });
    // One that neither starts nor fails would hold a paid answer, and the run, for ever.
    const notReady = setTimeout(() => {
      settle(worker, unread('its reader did not start'));
      end(worker);
    }, limitMs);
    worker.on('message', (message: 'ready' | EnvelopeReading<ParsedAnswer>) => {
      clearTimeout(notReady);
      if (!busy.has(worker)) return;
      if (message === 'ready') return handOver(worker, errand);
      settle(worker, message);
      idle.push(worker);
      next();
    });
    // After an error the worker exits as well; the first word counts.
    worker.on('error', (error: Error & { code?: string }) => {
      const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      settle(worker, unread(isFull ? `it needs more than ${heapMb} MB of memory` : error.message));
    });
    worker.on('exit', () => {
      clearTimeout(notReady);
      settle(worker, unread('its reader ended'));
      const place = idle.indexOf(worker);
      if (place >= 0) idle.splice(place, 1);
      next();
    });
  }

  function handOver(worker: Worker, errand: Errand): void {
    // By the wall, not by the run's clock: what is bounded is work of this machine.
    const limit = setTimeout(() => {
      settle(worker, unread(`it took more than ${limitMs / 1_000} s`));
      end(worker);
    }, limitMs);
    busy.set(worker, { errand, limit });
    worker.postMessage({ task: errand.task, body: errand.body }, [errand.body]);
  }

  function settle(worker: Worker, reading: EnvelopeReading<ParsedAnswer>): void {
    const at = busy.get(worker);
    if (!at) return;
    busy.delete(worker);
    const { errand, limit } = at;
    if (limit !== null) clearTimeout(limit);
    // A worker that could not start has not touched the body: a loop that is held up is better than an answer that is lost.
    errand.end(limit === null ? take(errand.task, Buffer.from(errand.body)) : reading);
  }

  function hasRoom({ bytes }: Errand): boolean {
    const inWork = [...busy.values()].reduce((sum, { errand }) => sum + errand.bytes, 0);
    return inWork === 0 || inWork + bytes <= mostBytes;
  }

  function next(): void {
    while (waiting.length > 0 && (idle.length > 0 || busy.size < most) && hasRoom(waiting[0]!)) {
      const errand = waiting.shift()!;
      const worker = idle.pop();
      if (worker) handOver(worker, errand);
      else start(errand);
    }
  }

  function end(worker: Worker): void {
    const ended = worker.terminate();
    closing.add(ended);
    void ended.finally(() => closing.delete(ended));
  }

  async function close(): Promise<void> {
    closed = true;
    for (const { end: ended } of waiting.splice(0)) ended(unread('the run was ending'));
    for (const worker of [...idle, ...busy.keys()]) end(worker);
    await Promise.all(closing);
  }

  return {
    async read(task, body) {
      if (body.length < fromBytes) return take(task, body);
      if (closed) return unread('the run was ending');
      return new Promise((resolve) => {
        const own = ownMemory(body);
        waiting.push({ task, body: own, bytes: own.byteLength, end: resolve });
        next();
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The body's memory, to be handed over. Node's small buffers share theirs and are copied. */
function ownMemory(body: Buffer): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = body;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength) return buffer;
  return Uint8Array.from(body).buffer;
}
