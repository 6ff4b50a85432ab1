import type { Command } from '../command.ts';
import { COMPLETION_SCRIPT, type Completable, completions } from '../completion-script.ts';
import { EXIT } from '../exit-codes.ts';

/** What the script asks with: the words of the line follow, and are none of this command. */
export const COMPLETE_OF = '--of';

/** `perilbook completion`: the script; `completion --of WORDS…`, which the script calls: one completion a line. */
export function completionCommand(commands: () => readonly Completable[]): Command['run'] {
  return async (context) => {
    const [, asks, ...words] = context.args;
    context.stdout.write(
      asks === COMPLETE_OF
        ? completions(words, commands())
            .map((word) => `${word}\n`)
            .join('')
        : COMPLETION_SCRIPT,
    );
    return EXIT.complete;
  };
}
