import { PerilbookError } from '../base/errors.ts';

/** The messages to a thread. It answers each, in their order. */
export type ThreadRequest =
  | {
      readonly kind: 'begin';
      readonly work: number;
      readonly module: string;
      readonly setup: unknown;
    }
  | { readonly kind: 'task'; readonly work: number; readonly task: unknown }
  | { readonly kind: 'end'; readonly work: number };

export type ThreadReply = { readonly result: unknown } | { readonly error: PlainError };

/** Runs the tasks of a work in one thread, one after the other. */
export interface TaskRunner<Task, Result> {
  run(task: Task): Promise<Result>;
  /** The memory of a result that is moved and not copied. */
  memoryOf?(result: Result): readonly ArrayBuffer[];
  /** Called after the last task. */
  end?(): Promise<void>;
}

/** The export `inThread` of a module whose work threads can run. The setup is plain data. */
export type InThread<Setup, Task, Result> = (
  setup: Setup,
) => TaskRunner<Task, Result> | Promise<TaskRunner<Task, Result>>;

/** An error as a message carries it: the copy of an error loses its class and code. */
export interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Of a `PerilbookError`. */
  readonly coded: Pick<PerilbookError, 'code' | 'hint' | 'context'> | null;
}

/** An error as data, because messages between threads keep no class. */
export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, coded: null };
  const { message, stack } = error;
  const coded =
    error instanceof PerilbookError
      ? { code: error.code, hint: error.hint, context: error.context }
      : null;
  return { message, stack, coded };
}

/** The error that `plainError` took apart. */
export function rebuildError({ message, stack, coded }: PlainError): Error {
  if (coded !== null) return new PerilbookError(coded.code, message, coded.hint, coded.context);
  return Object.assign(new Error(message), { stack });
}
