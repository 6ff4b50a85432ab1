const OF_TOKEN = String.raw`[A-Za-z0-9_\-+=~]`;

/** Long, of small and capital letters and digits mixed; or hexadecimal. Nobody names a variable or a file like that. */
const KEY_SHAPE = `(?=${OF_TOKEN}*[a-z])(?=${OF_TOKEN}*[A-Z])(?=${OF_TOKEN}*[0-9])${OF_TOKEN}{20,}|[0-9a-f][0-9a-f-]{31,}`;

const KEY = new RegExp(`^(?:${KEY_SHAPE})$`);
const KEY_WITHIN = new RegExp(`(?<!${OF_TOKEN})(?:${KEY_SHAPE})`);

/** An address with more than a place in it. */
const LOADED_ADDRESS = /https?:\/\/\S*[@?#]/i;

/** Names of settings under which people write a key, where the name of its file belongs. */
const KEY_NAME = /key|token|secret|password|credential/i;

/** Whether a text looks like a key itself: then no message repeats it. */
export function looksLikeKey(text: string): boolean {
  return KEY.test(text);
}

/** Whether a line seems to hold a key: then no message shows it. */
export function holdsKey(line: string): boolean {
  return KEY_WITHIN.test(line) || LOADED_ADDRESS.test(line);
}

/** Whether a setting of this name would hold a key. */
export function namesKey(name: string): boolean {
  return KEY_NAME.test(name);
}

/** What to do where a key stands in a job file, or seems to. */
export const KEY_HINT =
  'Keys do not belong in a job file. Put the key into a file of its own (chmod 600), and name it: service: {base_url: …, api_keys: [{file: …}]}.';
