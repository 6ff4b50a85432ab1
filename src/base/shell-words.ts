export type Shell = 'posix' | 'cmd' | 'powershell';

/** What needs no quotes. PowerShell makes a list of words with commas, and a variable of one that begins with `@`. */
const PLAIN: Readonly<Record<Shell, RegExp>> = {
  posix: /^[\w./:=,@+-]*$/,
  cmd: /^[\w./:=,@+\\-]*$/,
  powershell: /^[\w./:=+\\-]*$/,
};

const QUOTED: Readonly<Record<Shell, (text: string) => string>> = {
  posix: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  // Windows' own programs read "" in quotes as one quote, and a backslash before a quote as an escape. cmd replaces variables in quotes
  // too, so each % stands outside of them, escaped.
  cmd: (text) =>
    `"${text
      .replace(/\\+(?="|$)/g, '$&$&')
      .replaceAll('"', '""')
      .replaceAll('%', '"^%"')}"`,
  // Typographic quotes count as straight ones.
  powershell: (text) => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`,
};

/** A folder of modules that is not the machine's: PowerShell puts that of its user first. It lies among the user's documents, and their
 * folder may be called otherwise (OneDrive's by the language) or be on a server. */
const OF_USER = /^(?![a-z]:\\Program Files)[^;]*\\(?:Windows)?PowerShell\\Modules(?:;|$)/i;

/** The shell of the user. On Windows, Git's shells say what they are, cmd sets its prompt, and PowerShell puts a folder of the user first. */
export function shellOf(
  system: NodeJS.Platform,
  { SHELL, PROMPT, PSModulePath = '' }: Readonly<Record<string, string | undefined>>,
): Shell {
  if (system !== 'win32' || SHELL) return 'posix';
  return !PROMPT && OF_USER.test(PSModulePath) ? 'powershell' : 'cmd';
}

/** The shell that reads what this process prints: one for the whole of it. A library's program does not say which. */
let shellOfUser = shellOf(process.platform, {});

/** Says once, at the start, for which shell commands are printed. */
export function printCommandsFor(shell: Shell): void {
  shellOfUser = shell;
}

/** A word as a shell reads it, quoted where it must be. */
export function shellWord(text: string, shell: Shell = shellOfUser): string {
  return PLAIN[shell].test(text) ? text : QUOTED[shell](text);
}

/** The values of options, as they are parsed. */
export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** A command line from values, as a shell reads it. A value that begins with a dash is written after `=`, because a parser takes it for an
 * option.
 * @param words what follows the command's name
 * @param flags by the long names of options; a switch that is off is left out */
export function commandLine(
  command: string,
  words: readonly string[],
  flags: OptionValues,
): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    const text = String(value);
    return /^-|^$/.test(text) ? [shellWord(`--${name}=${text}`)] : [`--${name}`, shellWord(text)];
  });
  const files = words.map((word) => shellWord(/^-./.test(word) ? `./${word}` : word));
  return ['perilbook', command, ...files, ...options].join(' ');
}
