import { win32 } from 'node:path';

/* What people type as a path, or what a program passes on, may be something else: a variable that no shell replaced, an address, a path of
 * another system. It would become a file or a folder of that name. */

/** Why a text cannot be read as the name that it should be, as the end of a sentence. It shows no part that may be a secret. */
export type NameFault = { readonly fault: string };

/** The pairs of quotes of shells, and those that word processors make of them. */
const QUOTED = /^(?:"(.*)"|'(.*)'|`(.*)`|“(.*)”|‘(.*)’|„(.*)[“”]|«(.*)»)$/s;

/** A text without the blanks and the one pair of quotes around it, which files of environment variables leave there. */
export function withoutQuotes(text: string): string {
  const plain = text.trim();
  const inner = QUOTED.exec(plain)
    ?.slice(1)
    .find((some) => some !== undefined);
  return inner === undefined ? plain : inner.trim();
}

/** A quote at one end, whose other was lost. */
const LONE_QUOTE = /^["'`“”‘’„«»]|["'`“”‘’„«»]$/;

/** What shells, service managers and templates put a value in place of, by their forms: `$NAME` and `$1` after anything but a blank (`in
 * $M.csv` is a name), `${NAME}`, `$(command)`, `${{ name }}`, `{{ name }}`, `{NAME}`, `%NAME%`, `%NAME/`, `!NAME!`, `%h/` (systemd),
 * `` `command` ``, `%(name)s`, `@NAME@`, `<name>` (documents). */
const VARIABLES: readonly RegExp[] = [
  /\$\{+[^{}]*\}/,
  /\$\([^)]*\)/,
  /(?<! )\$(?:env:)?(?:[A-Za-z_]\w*|[0-9@*#?$!-](?![A-Za-z0-9]))/i,
  /\{+ *[A-Za-z_][\w.]* *\}+/,
  // Not `%C3%A9`, which is percent-encoded.
  /%(?![0-9A-F]{2}%)[A-Za-z_][\w()]*%/i,
  /![A-Za-z_]\w*!/,
  /(?<![^/\\])%[A-Za-z](?:\w*(?=[/\\])|(?![A-Za-z0-9%]))/,
  /`[^`]*`/,
  /%\([A-Za-z_]\w*\)/,
  /(?<![^/\\])@[A-Za-z_]\w*@/,
  /<[A-Za-z_][^<>/\\]*>/,
];

/** The variable in a text that nothing replaced, by its name where it has one; null: there is none. */
export function unreplacedVariable(text: string): string | null {
  const found = VARIABLES.map((form) => form.exec(text)?.[0]).find((some) => some !== undefined);
  if (found === undefined) return null;
  // Not `${NAME:-value}`: the value may be a secret.
  return /\w+/.exec(found.replace(/^\$env:/i, ''))?.[0] ?? found;
}

/** The end of a sentence about such a variable. */
export function variableFault(variable: string): string {
  return `the variable ${variable} in it was not replaced by its value: check that it is set, and that its shell or service manager replaces it here`;
}

/** No name has one, and they would hide what follows in a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Most bytes of a name, and of a path: what Linux has, and macOS and Windows about. */
const [MAX_NAME, MAX_PATH] = [255, 4_095];

/** Names that Windows gives to devices, whatever their ending: what is written to them is lost. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:[. :]|$)/i;

/** Windows has no file of such a name: what is written to `10:30.csv` is in a hidden stream of an empty file `10`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows refuses them.
const NO_FILE_NAME = /[<>:"|?*\u0000-\u001f]/;

/** Why Windows has no file of a path's last name; null where it may have one, and on other systems. */
export function windowsNameFault(path: string, system = process.platform): string | null {
  if (system !== 'win32') return null;
  const name = win32.basename(path);
  if (DEVICE_NAME.test(name)) return 'is the name of a device on Windows';
  return NO_FILE_NAME.test(name) ? 'is no name of a file on Windows' : null;
}

/** Reads the path of a file that Perilbook writes. `file:///folder/name` is read; a leading `~/` stays. */
export function readPath(text: string, system = process.platform): string | NameFault {
  const plain = withoutQuotes(text);
  const path = /^file:/i.test(plain) ? pathOfFileUri(plain, system) : plain;
  if (typeof path !== 'string') return path;
  const scheme = schemeOf(path);
  if (scheme !== null && /^[^:]+:[/\\]{2}/.test(path))
    return { fault: `${scheme}:// is the address of something that is no file on this machine` };
  const fault = pathFault(path, system);
  return fault === null ? path : { fault };
}

/** Reads the path of a file or a folder that must be there: whatever its name is, it is found or not. */
export function readInputPath(text: string, system = process.platform): string | NameFault {
  if (/^file:/i.test(text)) return pathOfFileUri(text, system);
  const scheme = schemeOf(text);
  if (scheme !== null && text.slice(scheme.length).startsWith('://'))
    return { fault: `${scheme}:// is no file on this machine: download it, and name the file` };
  if (CONTROL.test(text.replace(/[\t\n\r]/g, '')))
    return { fault: 'no file has a control character in its name' };
  return text;
}

/** The scheme of an address, in small letters; null where there is none. One letter is a drive of Windows. */
export function schemeOf(text: string): string | null {
  return /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** A drive of Windows, or its `\`: `C:\x`, `C:x` (in the folder that the drive is at), in a URI `/C:/x` and `/C|/x`. A file of Linux that
 * is called `a:x` can be written as `./a:x`. */
const OF_WINDOWS = /^[A-Za-z]:|^\.?\/+[A-Za-z][:|](?:\/|$)|\\/;

/** Why a plain path names no file that could be made here; null: it may. */
export function pathFault(path: string, system = process.platform): string | null {
  if (path === '') return 'it is empty';
  if (CONTROL.test(path)) return 'no file has a control character in its name';
  if (!path.isWellFormed()) return 'it has half a character, which no name of a file has';
  const variable = unreplacedVariable(path);
  if (variable !== null) return variableFault(variable);
  if (LONE_QUOTE.test(path)) return 'it has a quote at its beginning or end';
  if (/^(?:--|=)/.test(path)) return 'it begins as an option does: before a name, write ./';
  if (/\?\w+=|\?$/.test(path)) return 'parameters (?…) belong to no file: leave them out';
  if (/^~[\w-]*$/.test(path)) return 'it is a folder';
  if (system !== 'win32' && OF_WINDOWS.test(path))
    return 'it is a path of Windows, and this is another system: write folders with /, and no drive';
  const names = path.split(system === 'win32' ? /[/\\]/ : '/');
  if (
    Buffer.byteLength(path) > MAX_PATH ||
    names.some((name) => Buffer.byteLength(name) > MAX_NAME)
  )
    return `it is longer than a path (${MAX_PATH} bytes) or a name (${MAX_NAME} bytes) can be`;
  const ofWindows = windowsNameFault(path, system);
  return ofWindows === null ? null : `its last part ${ofWindows}`;
}

/** The path of `file:///folder/name`, `file:/folder/name` or, as SQLite and others write it, `file:name`. */
export function pathOfFileUri(uri: string, system = process.platform): string | NameFault {
  const rest = uri.replace(/^file:/i, '');
  if (/[?#]/.test(rest)) return { fault: 'parameters (? and #) belong to no file: leave them out' };
  const [, host = '', named = rest] = /^\/\/([^/]*)(\/.*)?$/s.exec(rest) ?? [];
  let path: string;
  try {
    path = decodeURIComponent(named);
  } catch {
    return { fault: 'its percent-encoding cannot be read' };
  }
  if (host !== '' && host.toLowerCase() !== 'localhost') {
    if (system === 'win32' && /^[\w.-]+$/.test(host)) return `//${host}${path}`;
    return { fault: 'a file: with two slashes names another machine: write file:///folder/name' };
  }
  return system === 'win32' ? path.replace(/^\/(?=[A-Za-z]:)/, '') : path;
}
