import { fileURLToPath } from 'node:url';
import { shellWord } from '../../base/shell-words.ts';
import { type CliContext, lineWidth, print } from '../frame/context.ts';
import { listed, shownPath } from '../messages/format.ts';

const SAMPLE_FILE = fileURLToPath(new URL('../../../sample-data/listings.csv', import.meta.url));

/** `perilbook` alone: what it is, three first steps, and the commands that tell the state of this machine. Makes no file. */
export function overviewCommand(context: CliContext): void {
  const width = lineWidth(context.stdout);
  const sample = shownPath(SAMPLE_FILE, context.workingFolder);
  const steps = listed(
    [
      [
        'try the sample',
        `perilbook run ${shellWord(sample)} -o sample.csv --topics natural --service sample`,
      ],
      ['price your file', 'perilbook plan FILE --service sample'],
      ['open the page', 'perilbook ui'],
    ],
    '  ',
    width,
  );
  const state = listed(
    [
      ['data', 'perilbook data'],
      ['runs', 'perilbook status'],
      ['credits', 'perilbook quota'],
    ],
    '  ',
    width,
  );
  const lines = [
    'Perilbook adds hazard ratings to a file of US locations: from public data on this machine, or from a paid service.',
    ...['', 'First steps:', ...steps],
    ...['', 'What is on this machine:', ...state],
    ...['', 'All commands: perilbook --help'],
  ];
  print(context, lines.join('\n'));
}
