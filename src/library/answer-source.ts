import { join, resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { type ConnectionContext, connect, type OpenConnection } from '../host/connection.ts';
import type { JobFile } from '../job/job-file.ts';
import { type Job, makeJob, NO_OUTPUT } from '../job/settings.ts';
import { defaultFolders } from './answer-store.ts';
import { checkedSettings, isObjectOrArray, isText, requireType } from './checked-settings.ts';
import { withDescribedLayers } from './described-layers.ts';
import { LocalPlaces } from './local-places.ts';

/** Where answers come from: made by `local`, `createClient` or `sample`. Printing it shows no key. */
export interface AnswerSource {
  readonly kind: 'local' | 'service' | 'sample';
}

/** The account at a metered service, and its limits. The names are those of the job file's settings. */
export interface ClientSettings
  extends Pick<
    JobFile,
    'account' | 'subscription' | 'anniversary_day' | 'reserve' | 'overages' | 'concurrency'
  > {
  /** The service's address. */
  readonly base_url: string;
  /** The API key. Of several, the next one is used if one is refused. */
  readonly api_key: string | readonly string[];
}

interface SourceParts {
  readonly settings: JobFile;
  /** The keys, by the variable names in the settings. */
  readonly env: ConnectionContext['env'];
  readonly dataFile?: string;
  readonly places?: LocalPlaces;
}

const PARTS = new WeakMap<AnswerSource, SourceParts>();

/** The agencies' data on this machine, as `perilbook data get` loaded it. Its answers are free. `lookup` holds the file open until
 * the source is disposed of.
 * @param options.file the data file; default: `~/.local/share/perilbook/data.db` */
export function local(options: { readonly file?: string } = {}): AnswerSource & Disposable {
  requireType('options', options, isObjectOrArray, 'Pass { file }, or nothing.');
  const { file } = options;
  requireType('file', file ?? '', isText, 'Pass the path of the data file, or leave it out.');
  const dataFile =
    file === undefined ? join(defaultFolders().dataFolder, 'data.db') : resolve(file);
  const places = new LocalPlaces(dataFile);
  const source = Object.freeze({
    kind: 'local' as const,
    [Symbol.dispose]: () => places[Symbol.dispose](),
  });
  PARTS.set(source, { settings: { service: 'local' }, env: {}, dataFile, places });
  return source;
}

/** The made-up sample data, for trying things out. Its service runs on this machine, and its credits cost nothing. */
export function sample(): AnswerSource {
  const source = Object.freeze({ kind: 'sample' as const });
  PARTS.set(source, { settings: { service: 'sample' }, env: {} });
  return source;
}

/** A metered service. A connection is open only while something is bought.
 * @throws PerilbookError USAGE for a setting that cannot be read */
export function createClient(settings: ClientSettings): AnswerSource {
  requireType('settings', settings, isObjectOrArray, 'Pass { base_url, api_key }.');
  const { base_url, api_key, ...account } = settings;
  const keys = [api_key].flat();
  if (keys.length === 0 || !keys.every((key) => typeof key === 'string' && key.trim() !== '')) {
    const hint = 'Pass the key: createClient({ base_url, api_key }).';
    throw new PerilbookError('USAGE', 'api_key is missing or empty', hint);
  }
  const named = keys.map((key, index) => [`api_key ${index + 1}`, key] as const);
  const service = { base_url, api_keys: named.map(([env]) => ({ env })) };
  const source = Object.freeze({ kind: 'service' as const });
  PARTS.set(source, {
    settings: checkedSettings({ ...account, service }),
    env: Object.fromEntries(named),
  });
  return source;
}

/** The job that looks up rows of a source with some settings. @throws USAGE, NEEDS_APPROVAL */
export function jobOfSource(source: AnswerSource, settings: object, store?: string): Job {
  const { settings: own, dataFile } = findSourceParts(source);
  const folders = defaultFolders();
  const given = () => {
    const checked = checkedSettings(settings);
    requireBudget(checked, source);
    return { name: 'library', ...checked, ...own, input: '-', output: NO_OUTPUT, store };
  };
  const job = withDescribedLayers(folders, undefined, () => makeJob([given()], folders));
  const location = { lat: 'lat', lng: 'lng' };
  return { ...job, location, ...(dataFile === undefined ? {} : { dataFile }) };
}

/** A program cannot be asked, so the budget is its approval. Sample credits and local answers cost nothing. @throws NEEDS_APPROVAL */
function requireBudget({ budget }: JobFile, { kind }: AnswerSource): void {
  if (budget !== undefined || kind !== 'service') return;
  const hint = 'Pass budget: the most credits to spend; 0 for what the store has.';
  throw new PerilbookError('NEEDS_APPROVAL', 'Answers of a metered service need a budget', hint);
}

/** Looks up single places of local data; null for another source. */
export function localPlaces(source: AnswerSource): LocalPlaces | null {
  return findSourceParts(source).places ?? null;
}

/** Opens the connection of such a job. */
export async function connectSource(
  source: AnswerSource,
  job: Job,
  context: ConnectionContext,
): Promise<OpenConnection> {
  return await connect({ ...context, env: findSourceParts(source).env }, job);
}

function findSourceParts(source: AnswerSource | undefined): SourceParts {
  const parts = source && PARTS.get(source);
  if (parts !== undefined) return parts;
  throw new PerilbookError(
    'USAGE',
    'Missing source',
    'Pass source: local(), createClient({ … }) or sample().',
  );
}
