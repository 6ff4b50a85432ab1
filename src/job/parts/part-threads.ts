import { Worker } from 'node:worker_threads';
import type { Field } from '../../contract/answer.ts';
import { placeFields } from '../../rows/placed-fields.ts';
import type { WriteResult } from '../../rows/port.ts';
import { errorOf } from '../../rows/threads/plain-error.ts';
import { threadModule } from '../../start-thread.ts';
import type { OutputFields } from '../writing.ts';
import type { FromThread, ThreadSettings, ToThread } from './part-messages.ts';
import { type PartTask, writePart } from './write-part.ts';

/** Writes parts, one after the other. */
export interface PartWriter extends AsyncDisposable {
  /** Writes a part whole or not at all. The task's places are gone afterwards. */
  write(task: PartTask, signal: AbortSignal): Promise<WriteResult>;
}

/** What a writer needs of the run. */
export interface WriterSurroundings {
  readonly give: OutputFields['give'];
  readonly onRows: (rows: number) => void;
}

/** A writer in this thread. */
export function localPartWriter({ give, onRows }: WriterSurroundings): PartWriter {
  return {
    write: (task, signal) => writePart(task, give, onRows, signal),
    async [Symbol.asyncDispose]() {},
  };
}

const MODULE = threadModule('part-worker', import.meta.url);

/** A writer in a thread of its own. The store stays in this one: a thread asks here for the fields of cells, and keeps some. */
export function threadPartWriter({ give, onRows }: WriterSurroundings, settings: ThreadSettings): PartWriter {
  let worker: Worker | null = null;
  const send = (message: ToThread, transfer: ArrayBuffer[] = []) => worker?.postMessage(message, transfer);
  return {
    async write(task, signal) {
      signal.throwIfAborted();
      worker ??= new Worker(MODULE, { workerData: settings });
      const thread = worker;
      const ended = new AbortController();
      /** Why the fields could not be read: the thread removes its temporary file first. */
      let unreadable: unknown;
      try {
        return await new Promise<WriteResult>((resolve, reject) => {
          const listen = <Value>(event: string, listener: (value: Value) => void) => {
            thread.on(event, listener);
            ended.signal.addEventListener('abort', () => thread.off(event, listener));
          };
          listen('message', (message: FromThread) => {
            if (message.kind === 'written') resolve(message.result);
            else if (message.kind === 'failed') reject(unreadable ?? errorOf(message.error));
            else if (message.kind === 'rows') onRows(message.rows);
            else {
              const fields: (readonly Field[])[] = [];
              const sink = placeFields((_, made) => fields.push(made));
              give(sink, message.places).then(
                () => send({ kind: 'fields', json: JSON.stringify(fields) }),
                (error) => {
                  unreadable = error;
                  send({ kind: 'no_fields' });
                },
              );
            }
          });
          const fail = (error: Error) => {
            worker = null;
            reject(error);
          };
          listen('error', fail);
          listen('exit', (code: number) => fail(new Error(`A thread that writes parts ended with code ${code}`)));
          signal.addEventListener('abort', () => send({ kind: 'stop' }), { signal: ended.signal });
          send({ kind: 'write', task }, [task.places.buffer]);
        });
      } finally {
        ended.abort();
      }
    },
    async [Symbol.asyncDispose]() {
      await worker?.terminate();
    },
  };
}
