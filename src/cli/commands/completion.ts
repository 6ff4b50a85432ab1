import type { Command, RunCommand } from '../command.ts';
import { COMPLETION_SCRIPT, completions } from '../completion-script.ts';
import { EXIT } from '../exit-codes.ts';

/** `perilbook completion` prints the script; `completion --of WORDS…`, which the script calls, one completion a line. */
export const completionCommand =
  (commands: readonly Command[]): RunCommand =>
  async (context) => {
    const [, option, ...words] = context.args;
    const found = completions(words, commands).map((word) => `${word}\n`);
    context.stdout.write(option === '--of' ? found.join('') : COMPLETION_SCRIPT);
    return EXIT.complete;
  };
