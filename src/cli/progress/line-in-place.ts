import { textWidth } from '../../base/printable.ts';
import { type CliContext, shownOn } from '../context.ts';

/** One line of the terminal that is drawn again in its place. `draw` gets the width that the text may have, in columns. */
export function lineInPlace(context: CliContext) {
  const { stderr } = context;
  const columns = () => Math.max(20, stderr.columns || 80);
  let shown = '';
  const clear = () => {
    if (shown === '') return;
    // A terminal that became narrower has wrapped the line.
    const above = Math.ceil(textWidth(shown) / columns()) - 1;
    stderr.write(`\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`);
    shown = '';
  };
  return {
    clear,
    draw(text: (width: number) => string) {
      clear();
      // Some terminals wrap a line that fills the last column.
      shown = shownOn(context, stderr, text(columns() - 1));
      stderr.write(shown);
    },
  };
}
