import type { PerilbookError } from '../../base/errors.ts';

/** Hints for the page, because an error's own hint names flags, the job file and commands, which the page does not have. */
const PAGE_HINTS: Readonly<Partial<Record<PerilbookError['code'], string>>> = {
  INPUT_COLUMNS: 'Choose the latitude and longitude columns below, or check the box if the first line is data.',
  INPUT_UNREADABLE: 'Check the file, or choose another one.',
  SCOPE_MISSING: 'Leave these topics out, or ask the provider for a key that may buy them.',
  OUTPUT_UNWRITABLE:
    'Check that the disk has room, then resume the run. A workbook that is too large may be saved as CSV.',
  LOCAL_DATA: 'Get the missing public data below the sources, or choose other topics or another source.',
  SERVICE_DATA: 'Choose one answer for each place, or check that the disk has room.',
  KEY_REFUSED: 'Check the key, then start perilbook ui again.',
};

/** The parts of a text that only make sense in a terminal: flags, settings of the job file, commands. */
const TERMINAL_WORDS = /(?:^|\s)--?[a-z]|job file|perilbook (?!ui\b)[a-z]/i;

/** An uploaded file or an output in the workspace: `…/0123456789abcdef/input/`. The user knows only the file's name. */
const WORKSPACE_FOLDER = /(?:[\w.~-]*[/\\])*[0-9a-f]{16}[/\\](?:input|output)[/\\]/g;

/** A text without the folders of the workspace. */
function withoutFolders(text: string): string {
  return text.replace(WORKSPACE_FOLDER, '');
}

/** The page does not name the file of the public data: nobody there opens it. */
export function withoutDataFile(message: string, file: string | undefined): string {
  return file === undefined ? message : message.replace(` in ${file}`, ' on this machine');
}

/** An error's message and hint for the page. */
export function pageMessage({
  code,
  message,
  hint,
  context = {},
}: Pick<PerilbookError, 'code' | 'message' | 'hint'> & Partial<Pick<PerilbookError, 'context'>>): {
  readonly message: string;
  readonly hint: string;
} {
  return {
    message: code === 'LOCAL_DATA' ? withoutDataFile(message, context.file) : withoutFolders(message),
    hint: TERMINAL_WORDS.test(hint) ? (PAGE_HINTS[code] ?? withoutTerminal(hint)) : withoutFolders(hint),
  };
}

/** A hint without the sentences that name flags, the job file or commands. */
export function withoutTerminal(text: string): string {
  const sentences = text.split(/(?<=[.!?])\s+/);
  return withoutFolders(sentences.filter((sentence) => !TERMINAL_WORDS.test(sentence)).join(' '));
}
