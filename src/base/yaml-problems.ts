/** What is wrong at a place of a YAML file, in the words of its writer: the library speaks of flow sequences, scalars and implicit
 * keys. Repeats no text of the file, which may be a key.
 * @param code, message of an error of the library `yaml` */
export function yamlProblem({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): string {
  const missing = MISSING.find(([pattern]) => pattern.test(message));
  return missing?.[1] ?? PROBLEMS[code] ?? (MARKS.test(code) ? WITHOUT_MARKS : NO_YAML);
}

const NO_YAML = 'this is not YAML; write each setting on a line of its own, as name: value';
const QUOTE_IT = 'put the value in quotes';

/** One code of the library is for all that is missing. */
const MISSING: readonly (readonly [message: RegExp, problem: string])[] = [
  [/^Missing closing "/, 'a double quote (") before this place is not closed'],
  [/^Missing closing '/, "a single quote (') before this place is not closed"],
  [/end with a \]/, 'a list that begins with [ is not closed before this place: add ]'],
  [/end with a \}/, 'a { before this place is not closed: add }'],
  [/^Missing , /, 'a comma is missing before this place'],
  [/^Missing space after :/, 'a space is missing after the colon'],
  [/^Comments must be separated/, `a comment needs a space before #; if it is none, ${QUOTE_IT}`],
  [/^Implicit map keys need/, 'a colon and a space are missing after the name of the setting'],
  [/^Sequence item without/, 'a list item needs a hyphen (-) before it'],
];

const MARKS = /ALIAS|COLLECTION_TYPE|PROP_ORDER|MULTIPLE_(?:ANCHORS|TAGS)|TAG_RESOLVE/;
const WITHOUT_MARKS = `YAML reads &, * and ! here as an anchor, alias or tag, which are not supported; ${QUOTE_IT}`;

const PROBLEMS: Readonly<Record<string, string>> = {
  BAD_DIRECTIVE: `YAML reads a line that begins with % as a directive; ${QUOTE_IT}`,
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins an escape sequence; use single quotes',
  BAD_INDENT: 'the indentation of this line differs from that of the lines beside it',
  BAD_SCALAR_START: `a value cannot begin with this character; ${QUOTE_IT}`,
  BLOCK_AS_IMPLICIT_KEY: `the line has a second colon, or the next line is indented; ${QUOTE_IT}, or begin a new line`,
  BLOCK_IN_FLOW: 'what stands in [ ] or { } must be on one line, with commas',
  DUPLICATE_KEY: 'this setting is given twice',
  KEY_OVER_1024_CHARS: 'the name of a setting has at most 1,024 characters',
  MULTILINE_IMPLICIT_KEY:
    'the name of a setting must be on one line, followed by a colon and a space',
  MULTIPLE_DOCS: 'a second document begins here (---); a file has one',
  TAB_AS_INDENT: 'the line is indented with a tab; use spaces',
  UNEXPECTED_TOKEN: `YAML cannot read this character here; remove it, or ${QUOTE_IT}`,
};
