import type { PlainError } from './plain-error.ts';

/** What a thread is told. Each task and each end is answered, in their order. */
export type ThreadRequest =
  | { readonly kind: 'begin'; readonly work: number; readonly module: string; readonly setup: unknown }
  | { readonly kind: 'task'; readonly work: number; readonly task: unknown }
  | { readonly kind: 'end'; readonly work: number };

export type ThreadReply = { readonly result: unknown } | { readonly error: PlainError };

/** Does the tasks of a work in one thread, one after the other. */
export interface TaskRunner<Task, Result> {
  run(task: Task): Promise<Result>;
  /** The memory of a result that is moved and not copied. */
  memoryOf?(result: Result): readonly ArrayBuffer[];
  /** Called behind the last task. */
  end?(): Promise<void>;
}

/** What a module exports as `inThread` whose work threads can do. The setup is plain data. */
export type InThread<Setup, Task, Result> = (
  setup: Setup,
) => TaskRunner<Task, Result> | Promise<TaskRunner<Task, Result>>;
