import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as Yaml from 'yaml';
import type { Document } from 'yaml';
import { hasSystemCode, PerilbookError } from '../base/errors.ts';
import { grouped } from '../base/format-numbers.ts';
import { readFileText } from '../base/pipes.ts';
import { textWidth } from '../base/printable.ts';
import { shellWord } from '../base/shell-words.ts';
import { yamlProblem } from '../base/yaml-problems.ts';
import { didYouMeanFile } from '../rows/files/input-file.ts';
import { checkSettings, type JobFile } from './job-file.ts';
import { holdsKey, KEY_HINT, looksLikeKey, mayHoldKey, namesKey } from './key-shapes.ts';
import { type InFile, offsetOfMember, yaml } from './yaml-members.ts';

/** A part of a document, with its offsets. */
const EXAMPLES = fileURLToPath(new URL('../../jobs', import.meta.url));

export interface JobProblem {
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  readonly message: string;
  /** What to do; left out where the message says enough. */
  readonly hint?: string;
  /** The line of the file with a caret below the error; '' if the line seems to contain a key. */
  readonly shown: string;
  /** The error's text may be a key. */
  readonly isSecret: boolean;
}

/** The settings of a job file, usable if there are no problems. */
export interface CheckedJobFile {
  readonly content: JobFile;
  readonly problems: readonly JobProblem[];
  /** An error at a setting, for later checks; at the first line if the file does not have the setting. */
  readonly problemAt: (path: readonly PropertyKey[], message: string) => JobProblem;
}

/** Reads the job file at `path`, which messages call `file`. @throws JOB_FILE with line and column */
export function readJobFile(path: string, file: string): JobFile {
  return parseJobFile(readJobText(path, file), file);
}

/** The most bytes of a job file: room for a list of some ten thousand part files. Messages about a longer file could fill the memory. */
const MOST_BYTES = 1_000_000;

/** The text of a job file. @throws JOB_FILE */
export function readJobText(path: string, file: string): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MOST_BYTES) {
    const message = `Job file ${file} has ${grouped(size)} bytes, and at most ${grouped(MOST_BYTES)} are read`;
    const hint = 'Check that it is a job file. For many part files, name their folder.';
    throw new PerilbookError('JOB_FILE', message, hint, { file });
  }
  try {
    return readFileText(path);
  } catch (error) {
    const message = hasSystemCode(error, 'ENOENT')
      ? `Job file ${file} does not exist${didYouMeanFile(path)}`
      : `Cannot read job file ${file}: ${String(error)}`;
    throw new PerilbookError(
      'JOB_FILE',
      message,
      `Check the path. ${EXAMPLES} has examples.`,
      { file },
      error,
    );
  }
}

/** The checked content of a job file. `file` is its name in messages. @throws JOB_FILE with the first error */
export function parseJobFile(text: string, file: string): JobFile {
  const { content, problems } = checkJobText(text);
  const [first, ...others] = problems;
  if (first === undefined) return content;
  const { line, column, message, shown, isSecret, hint: advice = 'Correct this line.' } = first;
  const more =
    others.length === 0
      ? ''
      : ` The file has more errors: perilbook job check ${shellWord(file)} lists them.`;
  const hint = (isSecret ? KEY_HINT : advice) + more;
  const place = { file, line, column: String(column) };
  throw new PerilbookError(
    'JOB_FILE',
    `${file}:${line}:${column}: ${message}${shown}`,
    hint,
    place,
  );
}

/** Reads a job file and finds its problems, each with its line. The text of a line that may hold a key is not shown. */
export function checkJobText(text: string): CheckedJobFile {
  const { LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const isOfKeys = keyLines(document, lines);
  const at = (offset: number, message: string, isSecret = false): JobProblem => {
    const { line, col } = lines.linePos(offset);
    const isHidden = isSecret || isOfKeys(line);
    return {
      line,
      column: col,
      message,
      shown: isHidden ? '' : shownLine(text, line, col),
      isSecret,
    };
  };
  const problemAt = (path: readonly PropertyKey[], message: string) =>
    at(offsetOfMember(document, path, false), message);
  const broken = document.errors.map((error) => at(error.pos[0], yamlProblem(error)));
  visit(document, {
    // Of a setting that is given twice the first is checked, and its place is shown.
    Map(_, map) {
      const names = new Set<string>();
      map.items = map.items.filter(({ key }) => names.size < names.add(String(key)).size);
    },
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const message =
        'YAML reads what begins with * as an alias, and it is not defined; put the value in quotes';
      broken.push(at(alias.range![0], message));
    },
  });
  const repeated = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  if (broken.length > repeated.length) {
    // Later ones on a line follow from its first.
    const firsts = [...Map.groupBy(broken, ({ line }) => line).values()].map(([first]) => first!);
    return { content: {}, problems: firsts, problemAt };
  }
  let given: unknown;
  try {
    given = document.toJS() ?? {};
  } catch (error) {
    // The YAML library refuses aliases that expand without end.
    if (!(error instanceof ReferenceError)) throw error;
    return {
      content: {},
      problems: [at(0, 'it has too many aliases (*); write the values themselves')],
      problemAt,
    };
  }
  const { settings: content, issues } = checkSettings(given);
  const wrong = issues.map((issue) => {
    const path = issue.isName ? issue.path.slice(0, -1) : issue.path;
    const shownPath = path
      .map((part) => (looksLikeKey(String(part)) ? '…' : String(part)))
      .join('.');
    const name = path.length > 0 ? `${shownPath}: ` : '';
    const isSecret = issue.isName
      ? issue.isHidden === true || namesKey(String(issue.path.at(-1)))
      : isScalarKey(document, issue.path);
    const problem = at(
      offsetOfMember(document, issue.path, issue.isName === true),
      name + issue.message,
      isSecret,
    );
    return issue.hint === undefined ? problem : { ...problem, hint: issue.hint };
  });
  const problems = [...broken, ...wrong].sort((a, b) => a.line - b.line || a.column - b.column);
  return { content, problems, problemAt };
}

/** Whether a text stands where a key source belongs: then it is most likely the key. */
function isScalarKey(document: Document.Parsed, path: readonly PropertyKey[]): boolean {
  const isKeySource = path.at(-1) === 'api_keys' || path.at(-2) === 'api_keys';
  return isKeySource && yaml().isScalar(document.getIn(path, true));
}

/** The lines that may contain a key: the lines of settings that name keys, and of misspelt settings. */
function keyLines(document: Document.Parsed, lines: Yaml.LineCounter): (line: number) => boolean {
  const { isScalar, visit } = yaml();
  const ranges: [from: number, to: number][] = [];
  visit(document, {
    Pair(_, { key, value }) {
      if (
        !isScalar(key) ||
        !key.range ||
        !(mayHoldKey([String(key.value)]) || namesKey(String(key.value)))
      )
        return;
      const end = (value as InFile | null)?.range?.[1] ?? key.range[1];
      ranges.push([lines.linePos(key.range[0]).line, lines.linePos(end).line]);
    },
  });
  // In broken YAML the end of the setting is unknown.
  const last = document.errors.length > 0 ? Number.POSITIVE_INFINITY : null;
  return (line) => ranges.some(([from, to]) => line >= from && line <= (last ?? to));
}

/** A longer line is cut to the part around the error. */
const SHOWN_LETTERS = 100;

function shownLine(text: string, line: number, column: number): string {
  const whole = text.split(/\r?\n/)[line - 1] ?? '';
  const indent = whole.length - whole.trimStart().length;
  const shown = whole.trim();
  if (shown === '' || holdsKey(shown)) return '';
  const at = Math.max(0, column - 1 - indent);
  const from = shown.length > SHOWN_LETTERS ? Math.max(0, at - SHOWN_LETTERS / 2) : 0;
  const part = shown.slice(from, from + SHOWN_LETTERS);
  return `\n    ${part}\n    ${' '.repeat(textWidth(part.slice(0, at - from).replaceAll('\t', ' ')))}^`;
}
