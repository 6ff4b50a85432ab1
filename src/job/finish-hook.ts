import { z } from 'zod';

/** `on_finish` of a job file: a program and its arguments, started without a shell. It gets the summary as JSON on standard input. */
export const onFinishSchema = z
  .array(
    z
      .string()
      .min(1)
      .refine((word) => !word.includes('\0'), { error: 'must not have a NUL character' }),
  )
  .min(1)
  .refine(([program = '']) => !/^https?:/i.test(program), {
    error: 'must be a program; one line with curl calls a webhook',
  });

/** Resolves the path of a program; the system looks for a plain name in PATH. */
export function commandIn([program = '', ...args]: readonly string[], resolvePath: (path: string) => string): string[] {
  if (!program.includes('/')) return [program, ...args];
  const resolved = resolvePath(program);
  // Joining paths drops the ./ of a program in the current folder: without it, the system would look in PATH.
  return [resolved.includes('/') ? resolved : `./${resolved}`, ...args];
}
