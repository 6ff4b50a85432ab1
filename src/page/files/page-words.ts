import type { FastifyReply } from 'fastify';
import { type ErrorCode, PerilbookError } from '../../base/errors.ts';

export interface ErrorMessage {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** A request that cannot be fulfilled. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly words: ErrorMessage;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.words = { code, message, hint };
  }
}

const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = { BUG: 500, NEEDS_APPROVAL: 409 };

/** Converts an error for the page. A bug's stack goes to the terminal only. */
export function makeErrorMessage(error: unknown): ErrorMessage {
  if (error instanceof RefusedRequest) return error.words;
  if (error instanceof PerilbookError) return { code: error.code, ...pageMessage(error) };
  const hint = 'Please report it with the lines in the terminal.';
  return { code: 'BUG', message: 'This is a bug in Perilbook', hint };
}

/** The HTTP status of an error; 500 for a bug. */
export function statusOfError(error: unknown): number {
  if (error instanceof RefusedRequest) return error.status;
  if (error instanceof PerilbookError) return STATUS[error.code] ?? 422;
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/** Sends an error to the page. The text of a request that the server refused is not repeated. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const status = statusOfError(error);
  const isRequest =
    status < 500 && !(error instanceof RefusedRequest) && !(error instanceof PerilbookError);
  const invalid = { code: 'REQUEST', message: 'Invalid request', hint: 'Reload the page.' };
  return reply.code(status).send({ error: isRequest ? invalid : makeErrorMessage(error) });
}

/** Hints for the page, because an error's own hint names flags, the job file and commands, which the page does not have. */
const PAGE_HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  INPUT_COLUMNS:
    'Choose the latitude and longitude columns below, or check the box if the first line is data.',
  INPUT_UNREADABLE: 'Check the file, or choose another one.',
  SCOPE_MISSING: 'Leave these topics out, or ask the provider for a key that may buy them.',
  OUTPUT_UNWRITABLE:
    'Check that the disk has room, then resume the run. A workbook that is too large may be saved as CSV.',
  LOCAL_DATA:
    'Get the missing public data below the sources, or choose other topics or another source.',
  SERVICE_DATA: 'Choose one answer for each place, or check that the disk has room.',
  KEY_REFUSED: 'Check the key, then start perilbook ui again.',
};

/** The parts of a text that only make sense in a terminal: flags, settings of the job file, commands. */
const TERMINAL_WORDS = /(?:^|\s)--?[a-z]|job file|perilbook (?!ui\b)[a-z]/i;

/** An uploaded file or an output in the workspace: `…/0123456789abcdef/input/`. The user knows only the file's name. */
const WORKSPACE_FOLDER = /(?:[\w.~-]*[/\\])*[0-9a-f]{16}[/\\](?:input|output)[/\\]/g;

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
  context,
}: PerilbookError): Pick<PerilbookError, 'message' | 'hint'> {
  return {
    message:
      code === 'LOCAL_DATA' ? withoutDataFile(message, context.file) : withoutFolders(message),
    hint: pageHint(code, hint),
  };
}

/** A hint that begins with what can be done on the page keeps those sentences. */
function pageHint(code: ErrorCode, hint: string): string {
  const [first = ''] = sentencesOf(hint);
  const usual = TERMINAL_WORDS.test(first) ? PAGE_HINTS[code] : undefined;
  return usual ?? withoutTerminal(hint);
}

/** A hint without the sentences that name flags, the job file or commands. */
export function withoutTerminal(text: string): string {
  const sentences = sentencesOf(text).filter((sentence) => !TERMINAL_WORDS.test(sentence));
  return withoutFolders(sentences.join(' '));
}

const sentencesOf = (text: string): string[] => text.split(/(?<=[.!?])\s+/);
