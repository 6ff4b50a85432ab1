import { dirname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { hasSystemCode, PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { readFileText } from '../../base/pipes.ts';
import { checkWritten, memberWords, type SchemaIssue } from '../../base/schema-issues.ts';
import { withShownAddresses } from '../../base/shown-address.ts';
import { yamlProblem } from '../../base/yaml-problems.ts';
import { dataAddress } from '../../contract/layers/layer-description.ts';
import { WHOLE_US } from '../tables/parts.ts';
import { stateNamed } from '../tables/states.ts';
import type { Source, SourceDownload } from './source.ts';

const override = z
  .strictObject({
    url: dataAddress.optional(),
    state_url: dataAddress.optional(),
    page: dataAddress.optional(),
    layer: dataAddress.optional(),
    states: z.string().min(1).optional(),
    licence: z.string().optional(),
    vintage: z.string().optional(),
    key_file: z.string().min(1).optional(),
  })
  .refine(
    ({ url, page, layer }) => [url, page, layer].filter(Boolean).length <= 1,
    'takes one of url, page and layer',
  )
  .refine(
    ({ url, state_url }) => state_url === undefined || url !== undefined,
    'state_url needs url',
  )
  .refine(
    ({ url, layer, states }) => states === undefined || url !== undefined || layer !== undefined,
    'states needs url or layer',
  )
  .refine(
    ({ url, state_url, key_file }) =>
      key_file === undefined || ![url, state_url].some((own) => /^http:/i.test(own ?? '')),
    'a key is sent to addresses of https only',
  );

const overridesFile = z.strictObject({
  /** Replaces every server: MIRROR/host/path. */
  mirror: dataAddress.optional(),
  /** The mirror has a part of each source: no least number of rows is asked of it. */
  extract: z.boolean().optional(),
  /** A page or an e-mail address for the User-Agent. */
  contact: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .optional(),
  sources: z.record(z.string(), override).optional(),
});

/** People paste keys into addresses and in place of a key's file. */
const WORDS = memberWords(
  'members such as mirror: https://mirror.example.com',
  (path) => Object.keys(path.length === 0 ? overridesFile.shape : override.shape),
  () => true,
);

export interface SourceOverrides {
  readonly sources: readonly Source[];
  readonly mirror?: string | undefined;
  readonly contact?: string | undefined;
  /** How the addresses that the file gives begin. */
  readonly own?: readonly string[] | undefined;
}

/** Reads a `sources.yaml` and applies it to the sources.
 * @throws PerilbookError USAGE for an unreadable file or an unknown setting */
export function overriddenSources(
  file: string,
  sources: readonly Source[],
  isOptional = false,
): SourceOverrides {
  let text: string;
  try {
    text = readFileText(file);
  } catch (error) {
    const isMissing = hasSystemCode(error, 'ENOENT') || hasSystemCode(error, 'ENOTDIR');
    if (isOptional && isMissing) return { sources };
    throw settingsError(file, error instanceof Error ? error.message : String(error), error);
  }
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    if (error instanceof YAMLParseError) {
      const line = error.linePos === undefined ? '' : `line ${error.linePos[0].line}: `;
      throw settingsError(file, line + yamlProblem(error), error);
    }
    // An undefined alias, or one that expands without end.
    if (error instanceof ReferenceError)
      throw settingsError(file, yamlProblem({ code: 'BAD_ALIAS', message: '' }), error);
    throw error;
  }
  const read = checkWritten(overridesFile, value, () => WORDS);
  if (read.data === null) {
    const [{ path, message }] = read.issues as [SchemaIssue];
    throw settingsError(file, [path.join('.'), message].filter(Boolean).join(': '));
  }
  const { mirror, contact, extract = false, sources: named = {} } = read.data;
  const names = sources.map(({ name }) => name);
  for (const name of Object.keys(named)) {
    if (!names.includes(name))
      throw settingsError(file, `there is no source "${name}"${didYouMean(name, names)}`);
  }
  return {
    sources: sources.map((source) => {
      const changed = overrideSource(source, named[source.name], file);
      const own = extract || changed.isElsewhere ? { ...changed, least: 0 } : changed;
      const isElsewhere = mirror !== undefined || own.isElsewhere;
      return isElsewhere && own.isNoteOfServer ? { ...own, note: undefined } : own;
    }),
    mirror,
    contact,
    own: Object.values(named).flatMap(startsOf),
  };
}

/** An address up to its query or first placeholder; of a page, the folder of the files that it links to. One without a whole host would hold for all. */
function startsOf({ url, state_url: stateUrl, layer, page }: z.infer<typeof override>): string[] {
  const folder = page === undefined ? undefined : new URL('.', page).href;
  const starts = [url, stateUrl, layer, folder].flatMap((own) => own?.split(/[{?#]/)[0] ?? []);
  return starts.filter((start) => /^https?:\/\/[^/]+\//i.test(start));
}

function overrideSource(
  source: Source,
  settings: z.infer<typeof override> | undefined,
  file: string,
): Source {
  if (settings === undefined) return source;
  const { licence, vintage, key_file: keyFile } = settings;
  const download = overriddenDownload(source, settings, file);
  if (keyFile !== undefined && source.keyVariable === undefined) {
    throw settingsError(file, `sources.${source.name}.key_file: this source needs no key`);
  }
  return {
    ...source,
    download,
    ...(download !== source.download && { isElsewhere: true as const, else: [] }),
    ...coveredBy(source, settings, file),
    // The loader reads more forms than the publisher's.
    firstLine: settings.url === undefined ? source.firstLine : undefined,
    licence: licence ?? source.licence,
    vintage: vintage ?? source.vintage,
    keyFile: keyFile === undefined ? source.keyFile : resolve(dirname(file), keyFile),
  };
}

/** A file at an address without a placeholder of states may cover only one state: it must not answer for the others. */
function coveredBy(
  { name }: Source,
  { url, state_url: stateUrl, layer, states }: z.infer<typeof override>,
  file: string,
): Pick<Source, 'covers'> {
  if (stateUrl !== undefined || (url === undefined && layer === undefined)) return {};
  if (states === undefined) return { covers: null };
  const covers = states.split(',').map((text) => {
    const state = text.trim().toUpperCase() === WHOLE_US ? WHOLE_US : stateNamed(text);
    if (state !== null) return state;
    throw settingsError(file, `sources.${name}.states: "${text.trim()}" is not a state`);
  });
  return { covers };
}

function overriddenDownload(
  { name, download }: Source,
  settings: z.infer<typeof override>,
  file: string,
): SourceDownload {
  const { url, state_url: stateUrl, page, layer } = settings;
  if (url !== undefined) {
    const own = download.kind === 'file' ? download : { kind: 'file' as const, files: [] };
    const first = stateUrl === undefined ? { url } : { url, stateUrl };
    return { ...own, files: [first, ...own.files.slice(1)] };
  }
  if (page !== undefined) {
    if (download.kind === 'linked') return { ...download, page };
    throw settingsError(
      file,
      `sources.${name}.page: this source is not found through a page; give url`,
    );
  }
  if (layer !== undefined) {
    // The other layers are the agency's: an own address stands alone.
    if (download.kind === 'layer') return { ...download, layer, more: undefined };
    throw settingsError(file, `sources.${name}.layer: this source is no layer; give url`);
  }
  return download;
}

function settingsError(file: string, problem: string, cause?: unknown): PerilbookError {
  const hint = 'docs/operator/downloads.md, Mirrors, shows the format.';
  // Addresses in the file, also in the place of names, may hold tokens.
  const message = `Cannot use "${file}": ${withShownAddresses(problem)}`;
  return new PerilbookError('USAGE', message, hint, { file }, cause);
}
