import type { TaskRunner } from '../../threads/thread-messages.ts';
import { inOrder, type Lane, type ThreadPool } from '../../threads/thread-pool.ts';
import { type ByteBuffer, byteBuffer, type DirectFile } from './byte-buffer.ts';
import { asUnwritable, writeAt } from './output-file.ts';

/** What a thread does with a piece of an output: makes it, then writes it where it belongs or gives its bytes to be written in order. */
export type PieceTask<Task> =
  | {
      readonly kind: 'make';
      readonly number: number;
      readonly task: Task;
      /** Memory of an earlier piece. */
      readonly memory: ArrayBuffer | null;
    }
  | { readonly kind: 'write'; readonly number: number; readonly position: number }
  | { readonly kind: 'give'; readonly number: number };

/** A piece that was made: its size and what else is known of it; or its bytes. */
export type PieceResult<Facts> =
  | { readonly kind: 'made'; readonly size: number; readonly facts: Facts }
  | { readonly kind: 'written' }
  | { readonly kind: 'given'; readonly memory: ArrayBuffer; readonly used: number };

/** Makes a piece of an output in a buffer. */
export type MakePiece<Task, Facts> = (task: Task, gathered: ByteBuffer) => Promise<Facts>;

/** The output of a piece of CSV with 18 topics takes 2.5 MB, with losses 3.7. Growing to that size by doubling left as much garbage, and
 * memory that is not written takes none. */
const PIECE_BYTES = 6 * 1024 * 1024;

/** Runs the tasks of pieces, in a thread or here.
 * @param output the file for pieces that are written where they belong */
export function pieceRunner<Task, Facts>(
  make: MakePiece<Task, Facts>,
  output: Pick<DirectFile, 'name' | 'fd'> | null,
): TaskRunner<PieceTask<Task>, PieceResult<Facts>> {
  const held = new Map<number, Buffer>();
  const free: ArrayBuffer[] = [];
  return {
    async run(asked) {
      if (asked.kind === 'make') {
        const memory = asked.memory ?? free.pop() ?? new ArrayBuffer(PIECE_BYTES);
        // Never flushed: a piece is passed on as a whole.
        const gathered = byteBuffer(async () => {}, memory);
        const facts = await make(asked.task, gathered);
        held.set(asked.number, gathered.bytes.subarray(0, gathered.used));
        return { kind: 'made', size: gathered.used, facts };
      }
      const bytes = held.get(asked.number)!;
      held.delete(asked.number);
      const memory = bytes.buffer as ArrayBuffer;
      if (asked.kind === 'give') return { kind: 'given', memory, used: bytes.length };
      try {
        await writeAt(output!.fd, bytes, asked.position);
      } catch (error) {
        throw asUnwritable(output!.name, error);
      }
      free.push(memory);
      return { kind: 'written' };
    },
    memoryOf: (result) => (result.kind === 'given' ? [result.memory] : []),
  };
}

/** A piece of an output that is written, or being written. */
export interface MadePiece<Item, Facts> {
  readonly item: Item;
  readonly facts: Facts;
  readonly size: number;
}

export interface PieceWork<Setup, Item, Task> {
  readonly pool: ThreadPool;
  /** `import.meta.url` of the module that exports a `pieceRunner` as `inThread`. */
  readonly module: string;
  readonly setup: Setup;
  /** What the pieces are made of, in their order. */
  readonly items: Iterable<Item>;
  /** Called in this order. */
  readonly taskOf: (item: Item) => Promise<Task>;
  /** The memory of a task that moves to the thread. */
  readonly memoryOf: (task: Task) => readonly ArrayBuffer[];
  readonly signal: AbortSignal | undefined;
}

/** This thread makes nearly as many pieces as another. */
export const OWN_SHARE = 1.1;

/** How many pieces are made at a time. */
export const piecesAtOnce = ({ threads }: Pick<ThreadPool, 'threads'>): number => 2 * (threads + 1);

/** Makes the pieces of an output in all threads. Into a plain file each thread writes its own, once the sizes of those before are known;
 * into a pipe or a compressed file this one writes them. Yields them in order; all are written when it ends. Memory: some two pieces a
 * thread that are made, and as many that are being written. */
export async function* writePieces<Setup, Item, Task, Facts>(
  gathered: ByteBuffer,
  { pool, module, setup, items, taskOf, memoryOf, signal }: PieceWork<Setup, Item, Task>,
  makeHere: MakePiece<Task, Facts>,
): AsyncGenerator<MadePiece<Item, Facts>> {
  await gathered.finish();
  const { direct } = gathered;
  const here = pieceRunner(makeHere, direct ?? null);
  await using work = pool.begin<Setup, PieceTask<Task>, PieceResult<Facts>>(
    module,
    setup,
    (task) => here.run(task),
    OWN_SHARE,
  );
  const free: ArrayBuffer[] = [];
  const writing: Promise<unknown>[] = [];
  let next = 0;
  const make = async (item: Item) => {
    const task = await taskOf(item);
    const lane: Lane<PieceTask<Task>, PieceResult<Facts>> = work.choose();
    const number = next++;
    const memory = free.pop() ?? null;
    const moved = [...memoryOf(task), ...(memory === null ? [] : [memory])];
    const made = await lane.run({ kind: 'make', number, task, memory }, moved);
    if (made.kind !== 'made') throw new Error('A piece was not made');
    return { lane, number, made };
  };
  const atOnce = piecesAtOnce(pool);
  for await (const [item, { lane, number, made }] of inOrder(items, atOnce, make)) {
    signal?.throwIfAborted();
    const { size, facts } = made;
    if (direct !== undefined) {
      const written = lane.run({ kind: 'write', number, position: direct.take(size) });
      // The error is thrown in its turn; until then it must not count as unhandled.
      written.catch(() => {});
      writing.push(written);
      if (writing.length > atOnce) await writing.shift();
    } else {
      const given = await lane.run({ kind: 'give', number });
      if (given.kind !== 'given') throw new Error('A piece was not given');
      await gathered.addBlock(Buffer.from(given.memory, 0, given.used));
      free.push(given.memory);
    }
    yield { item, facts, size };
  }
  for (const written of writing) await written;
}
