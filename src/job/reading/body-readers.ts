import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { MAX_BODY_BYTES } from '../../contract/body-limits.ts';
import { type EnvelopeReading, unread } from '../../fetch/envelope.ts';
import { threadModule } from '../../start-thread.ts';
import { BodyMemory } from './body-memory.ts';
import { type ParsedAnswer, parseAnswer, type ReadRequest } from './parsed-answer.ts';

/** Parses the bodies of answers. */
export interface BodyReader extends AsyncDisposable {
  /** Gives memory for a body, which `read` uses again. */
  readonly allocate: (bytes: number) => Buffer;
  /** Never rejects. A body that a worker parses is transferred: it is empty here afterwards. */
  read(task: ReadRequest, body: Buffer): Promise<EnvelopeReading<ParsedAnswer>>;
  /** Ends the workers; a body that is still being parsed is returned as unread. */
  close(): Promise<void>;
}

export interface BodyReaderOptions {
  /** Bodies of at least so many bytes are parsed in a worker. */
  readonly fromBytes?: number;
  readonly workers?: number;
  /** Longest time for one body, in milliseconds. */
  readonly limitMs?: number;
  /** Most bytes in all workers at one time; a larger body is parsed alone. */
  readonly mostBytes?: number;
  /** The heap of one worker, in megabytes. */
  readonly heapMb?: number;
  /** The worker's module; only tests name another. */
  readonly module?: URL;
}

/** A megabyte takes 2 ms where its details are only counted and 4 ms and more where they are kept, so a body below this blocks the
 * loop for a millisecond at most and would gain nothing. Singles and standard bundles are mostly smaller. */
const FROM_BYTES = 256 * 1024;

/** The largest possible body takes some 2 s, a bundle of 6 MB 0.05 s. A claim's lease allows a minute for it. */
const LIMIT_MS = 15_000;

/** Four bundles of 7 MB at a time; the largest bodies are parsed one after the other. */
const MOST_BYTES = MAX_BODY_BYTES;

/** More than the 400 MB that any body can need (`contract/body-limits.ts`). Not less: where JSON.parse finds the heap full, V8 ends
 * the whole process and not the worker. */
const HEAP_MB = 1_024;

/** Where its details are kept, a body of 6 MB makes some 40 MB of objects that all die together. A young generation that holds them copies fewer (5 % of the
 * time). */
const YOUNG_MB = 64;

const MODULE = threadModule('body-worker', import.meta.url);

interface ReadTask {
  readonly task: ReadRequest;
  /** The memory that it lies in, from the first byte. */
  readonly body: ArrayBuffer;
  readonly bytes: number;
  readonly end: (reading: EnvelopeReading<ParsedAnswer>) => void;
}

/**
 * Parses small bodies at once and large ones in workers, as many as there are cores, each started when it is first needed.
 * A body whose worker dies is a paid answer that is lost: it is returned as `unread` and not requested again, and the next body
 * gets a new worker.
 */
export function createBodyReader(options: BodyReaderOptions = {}): BodyReader {
  const { fromBytes = FROM_BYTES, workers: most = availableParallelism(), limitMs = LIMIT_MS } = options;
  const { heapMb = HEAP_MB, mostBytes = MOST_BYTES, module = MODULE } = options;
  const memory = new BodyMemory();
  const waiting: ReadTask[] = [];
  const idle: Worker[] = [];
  /** `limit` is the timer since the body was transferred; null before that. */
  const busy = new Map<Worker, { pending: ReadTask; limit: NodeJS.Timeout | null }>();
  const closing = new Set<Promise<unknown>>();
  let closed = false;

  function start(pending: ReadTask): void {
    const worker = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    busy.set(worker, { pending, limit: null });
    // A worker that neither starts nor fails would block a paid answer, and the run, for ever.
    const notReady = setTimeout(() => {
      settle(worker, unread('its reader did not start'));
      end(worker);
    }, limitMs);
    worker.on('message', (message: 'ready' | EnvelopeReading<ParsedAnswer> | ArrayBuffer) => {
      clearTimeout(notReady);
      if (message instanceof ArrayBuffer) return memory.release(message);
      if (!busy.has(worker)) return;
      if (message === 'ready') return transfer(worker, pending);
      settle(worker, message);
      idle.push(worker);
      next();
    });
    // After an error the worker exits as well; the first event counts.
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

  function transfer(worker: Worker, pending: ReadTask): void {
    // Real time, not the run's clock: this bounds work on this machine.
    const limit = setTimeout(() => {
      settle(worker, unread(`it took more than ${limitMs / 1_000} s`));
      end(worker);
    }, limitMs);
    busy.set(worker, { pending, limit });
    const { task, body, bytes } = pending;
    worker.postMessage({ task, body, bytes }, [body]);
  }

  function settle(worker: Worker, reading: EnvelopeReading<ParsedAnswer>): void {
    const at = busy.get(worker);
    if (!at) return;
    busy.delete(worker);
    const { pending, limit } = at;
    if (limit !== null) clearTimeout(limit);
    // A worker that could not start has not got the body: a blocked event loop is better than a lost answer.
    pending.end(limit === null ? parseAnswer(pending.task, Buffer.from(pending.body, 0, pending.bytes)) : reading);
  }

  function fits({ bytes }: ReadTask): boolean {
    const inWork = [...busy.values()].reduce((sum, { pending }) => sum + pending.bytes, 0);
    return inWork === 0 || inWork + bytes <= mostBytes;
  }

  function next(): void {
    while (waiting.length > 0 && (idle.length > 0 || busy.size < most) && fits(waiting[0]!)) {
      const pending = waiting.shift()!;
      const worker = idle.pop();
      if (worker) transfer(worker, pending);
      else start(pending);
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
    allocate: (bytes) => memory.allocate(bytes),
    async read(task, body) {
      if (body.length < fromBytes) return parseAnswer(task, body);
      if (closed) return unread('the run was ending');
      return new Promise((resolve) => {
        const bytes = body.length;
        waiting.push({
          task,
          body: memory.has(body) ? (body.buffer as ArrayBuffer) : ownMemory(body),
          bytes,
          end: resolve,
        });
        next();
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The body's memory, for the transfer. Node's small buffers share theirs and are copied. */
function ownMemory(body: Buffer): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = body;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength) return buffer;
  return Uint8Array.from(body).buffer;
}
