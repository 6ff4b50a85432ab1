/** A thread that writes parts (`part-threads.ts`): it reads and writes files, and asks the main thread for the fields of cells. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Field } from '../../contract/answer.ts';
import { putPlace } from '../../rows/placed-fields.ts';
import type { PlaceSink } from '../../rows/port.ts';
import { plainError } from '../../rows/threads/plain-error.ts';
import type { FromThread, ThreadSettings, ToThread } from './part-messages.ts';
import { type PartTask, writePart } from './write-part.ts';

/** Rows whose cells are asked for at once: a message for each batch of 256 rows takes longer than what it asks for. */
const ROWS_AHEAD = 16_384;

const port = parentPort!;
const { mostCells } = workerData as ThreadSettings;
const known = new Map<number, readonly Field[]>();
let asked: PromiseWithResolvers<readonly (readonly Field[])[]> | null = null;
let unreported = 0;
let stop = new AbortController();

port.on('message', (message: ToThread) => {
  if (message.kind === 'fields') asked?.resolve(JSON.parse(message.json));
  else if (message.kind === 'no_fields') asked?.reject(new Error('The fields cannot be read'));
  else if (message.kind === 'stop') stop.abort();
  else void write(message.task);
});

async function write(task: PartTask): Promise<void> {
  stop = new AbortController();
  try {
    const result = await writePart(task, giveFields, reportRows, stop.signal);
    reportRows(0, true);
    send({ kind: 'written', result });
  } catch (error) {
    send({ kind: 'failed', error: plainError(error) });
  }
}

function reportRows(rows: number, isLast = false): void {
  unreported += rows;
  if (unreported < ROWS_AHEAD && !isLast) return;
  send({ kind: 'rows', rows: unreported });
  unreported = 0;
}

async function giveFields(sink: PlaceSink, places: readonly number[], ahead: Int32Array): Promise<void> {
  const isMissing = (place: number) => !known.has(place);
  if (places.some(isMissing)) {
    if (known.size > mostCells) known.clear();
    const numbers = [...new Set([...places, ...ahead.subarray(0, ROWS_AHEAD)].filter(isMissing))];
    asked = Promise.withResolvers();
    send({ kind: 'ask', places: numbers });
    for (const [index, fields] of (await asked.promise).entries()) known.set(numbers[index]!, fields);
  }
  for (const place of places) putPlace(sink, known.get(place)!);
}

function send(message: FromThread): void {
  port.postMessage(message);
}
