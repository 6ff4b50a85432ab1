import { statSync } from 'node:fs';
import { hostname, platform } from 'node:os';
import { PerilbookError, resultOrNull } from '../base/errors.ts';
import { shownPath } from '../base/printable.ts';
import { shellWord } from '../base/shell-words.ts';
import { makeRedactor } from '../client/redact.ts';
import { isLoopback, sourceName } from '../contract/service-address.ts';
import { isSold, type TopicSlug, topicOf } from '../contract/topics.ts';
import { loadCommandOf } from '../data/sources/layer-sources.ts';
import { needsOf, SAMPLE_VINTAGE } from '../data/tables/describe-data.ts';
import type { Job, JobFolders } from '../job/settings.ts';
import { divideTopics } from '../job/topic-choice.ts';
import { proxyFor, proxyNotice } from '../net/http-proxy.ts';
import type { Streams } from '../rows/open/open-row-file.ts';
import { type Key, readKeys } from '../run/frame/api-keys.ts';
import type {
  Connection,
  LocalConnection,
  LossSource,
  ServiceConnection,
} from '../run/frame/connection-kinds.ts';
import { answersCodes, type LocalData, readLocalData } from '../run/frame/local-data.ts';
import type { Effects } from '../run/frame/run-context.ts';
import { topicsText } from '../run/look-up/place-answers.ts';
import { sampleDataFile } from '../sample/sample-file.ts';
import { isPostgresAddress } from '../sql/postgres-address.ts';

/** What opening a connection needs from its caller. */
export interface ConnectionContext
  extends JobFolders,
    Pick<Effects, 'clock' | 'random' | 'notice'> {
  /** The environment, with the keys whose variables a job names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly streams?: Pick<Streams, 'interrupt'>;
  /** Sentences that name the other sources of answers, for the hint where local data is missing. */
  readonly otherSources?: string;
  /** Finds the state of a single location, for the same hint. */
  readonly findState?: () => readonly string[];
}

/** Where a job's answers come from, without starting or asking a service. A plan needs no more, and must work without a key. A
 * missing key is assumed to have the scopes in the job, or all scopes. */
export async function unopenedConnection(
  context: ConnectionContext,
  job: Job,
): Promise<Connection> {
  const local = localConnection(context, job);
  if (local !== null) return local;
  const beside = dataBeside(context, job);
  const anyKey = { secret: '', fingerprint: '', scopes: null };
  if (job.service.kind !== 'remote') {
    const losses = sampleLosses(context, job);
    const named = { baseUrl: '', source: EMBEDDED_SOURCE, sample: true, keys: [anyKey], losses };
    return { kind: 'service', ...named };
  }
  const { baseUrl, keys } = job.service;
  for (const warning of exposedKeyFiles(keys)) context.notice(warning);
  const read: Key[] = [];
  for (const key of keys) {
    try {
      read.push(...(await readKeys([key], context.env, context.streams?.interrupt)));
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'KEY_MISSING')) throw error;
      const { scopes } = key;
      const assumed = scopes === null ? 'all scopes' : 'the scopes in the job';
      context.notice(`${error.message}; the plan assumes a key with ${assumed}.`);
      read.push({ ...anyKey, scopes: scopes && new Set(scopes) });
    }
  }
  refuseKeyInNames(baseUrl, job.account.name, read);
  const named = { baseUrl, source: sourceName(baseUrl), sample: false, keys: read };
  return { kind: 'service', ...named, ...beside };
}

/** The made-up index, whose loss rates stand beside made-up ratings; null before the first run. */
function sampleLosses(context: ConnectionContext, job: Job): LossSource | null {
  const file = job.losses ? sampleDataFile(job, context) : null;
  const data = file === null ? null : readLocalData(file, context.clock.now());
  return data && { data, source: EMBEDDED_SOURCE };
}

/** The name of the answers from local data in the store. Answers without counts are a source of their own, because a job with counts must not
 * use them. In a shared store each machine's data is a source of its own too. */
function localSource({
  store,
  dataFile,
  counts,
}: Pick<Job, 'store' | 'dataFile' | 'counts'>): string {
  const machine = isPostgresAddress(store) ? `${hostname()}:` : '';
  return `local${counts ? '' : ' without counts'} ${machine}${dataFile}`;
}

const EMBEDDED_SOURCE = `embedded ${SAMPLE_VINTAGE}`;

/** The local data of a job; null for a service and for the sample. Partly made-up data counts as none, because no output mixes it with
 * real data.
 * @throws LOCAL_DATA where there is no data for its topics */
function localConnection(context: ConnectionContext, job: Job): LocalConnection | null {
  const { service, dataFile } = job;
  if (service.kind !== 'local') return null;
  return connectionTo(readLocalData(dataFile, context.clock.now()), job, context);
}

/** What the data on this machine gives beside a service, by one reading of it: what no service sells, and loss rates unless they are made up.
 * @throws LOCAL_DATA where topics have no data: nothing is bought before */
function dataBeside(
  context: ConnectionContext,
  job: Job,
): Pick<ServiceConnection, 'beside' | 'losses'> {
  const topics = divideTopics(job.service.kind, job.topics).beside;
  const isPaid = job.service.kind === 'remote';
  if (topics.length === 0 && !(job.losses && isPaid)) return {};
  const data = readLocalData(job.dataFile, context.clock.now());
  const hasRates = job.losses && isPaid && data !== null && !data.sample;
  return {
    ...(topics.length > 0 && { beside: connectionTo(data, { ...job, topics }, context) }),
    losses: hasRates ? { data, source: localSource(job) } : null,
  };
}

/** A connection with the data that is on this machine now; the service and its keys stay. @throws LOCAL_DATA as above */
export function withNewData(
  context: ConnectionContext,
  job: Job,
  connection: Connection,
): Connection {
  if (connection.kind === 'local') return localConnection(context, job) ?? connection;
  const losses = connection.sample ? { losses: sampleLosses(context, job) } : null;
  return { ...connection, ...(losses ?? dataBeside(context, job)) };
}

/** The connection to the described local data. @throws LOCAL_DATA as above */
export function connectionTo(
  data: LocalData | null,
  job: Job,
  context: Pick<ConnectionContext, 'workingFolder' | 'otherSources' | 'findState'>,
): LocalConnection {
  const { topics, dataFile } = job;
  const { workingFolder, otherSources = '', findState } = context;
  const isAnswered = (of: LocalData) => (topic: TopicSlug) =>
    of.topics.has(topic) || answersCodes(of, topic);
  if (data !== null && !data.sample && topics.some(isAnswered(data))) {
    return { kind: 'local', source: localSource(job), sample: false, data };
  }
  const outdated = topics.find((topic) => data?.outdated.has(topic));
  if (data !== null && !data.sample && outdated !== undefined) {
    const message = `The description of ${outdated} was changed after its data was loaded`;
    const hint = `Load it again: ${loadCommandOf(outdated)}.`;
    throw new PerilbookError('LOCAL_DATA', message, hint, { file: dataFile });
  }
  if (data !== null && !data.sample && lacksBoundariesOnly(data, topics)) {
    const message = `Boundaries of tracts and counties are missing in ${dataFile}: without them no location has an answer`;
    const hint = `Get them: perilbook data get areas counties ${placesOption(job, workingFolder, findState?.()[0])}.`;
    throw new PerilbookError('LOCAL_DATA', message, hint, { file: dataFile });
  }
  const none = `No data for ${topicsText(topics).replaceAll(' ', ', ')} is in ${dataFile}`;
  const message = data?.sample ? `The data in ${dataFile} is made up` : none;
  // No other source has a layer.
  const others = topics.some((topic) => isSold(topicOf(topic))) ? otherSources : '';
  const hint = `Get it: ${getCommand(job, workingFolder, findState?.()[0])}.${others}`;
  throw new PerilbookError('LOCAL_DATA', message, hint, { file: dataFile });
}

/** Whether all that some topic lacks are the boundaries. */
export function lacksBoundariesOnly(
  { datasets }: LocalData,
  topics: readonly TopicSlug[],
): boolean {
  const here = new Set<string>(datasets.map(({ name }) => name));
  return topics.some((topic) =>
    needsOf(topic).every((name) => here.has(name) !== (name === 'areas')),
  );
}

/** Whether answers of a source in the store are free. The embedded service and local data are; paid sources have an address. */
export function isFreeSource(source: string): boolean {
  return /^(embedded|local) /.test(source);
}

export interface OpenConnection extends AsyncDisposable {
  readonly connection: Connection;
}

/** Opens the connection of a job. `sample` starts our own service on loopback with sample data, the job's account, and a key that is
 * revoked at the end.
 * @param notice prints a message before a step that takes seconds */
export async function connect(
  context: ConnectionContext,
  job: Job,
  notice: (line: string) => void = context.notice,
): Promise<OpenConnection> {
  const local = localConnection(context, job);
  if (local !== null) return { connection: local, [Symbol.asyncDispose]: async () => {} };
  if (job.service.kind === 'remote') {
    const beside = dataBeside(context, job);
    const { baseUrl, keys } = job.service;
    for (const warning of [...exposedKeyFiles(keys), ...unencryptedKeys(baseUrl)])
      context.notice(warning);
    const read = await readKeys(keys, context.env, context.streams?.interrupt);
    refuseKeyInNames(baseUrl, job.account.name, read);
    const proxy = proxyFor(baseUrl, context.env);
    if (proxy !== null) context.notice(proxyNotice(proxy));
    const named = { baseUrl, source: sourceName(baseUrl), sample: false, keys: read, proxy };
    const connection = { kind: 'service', ...named, ...beside } as const;
    return { connection, [Symbol.asyncDispose]: async () => {} };
  }
  // Loaded here: most commands need no service, so they need not load the web framework.
  const { startEmbeddedService } = await import('../sample/embedded-service.ts');
  const service = await startEmbeddedService(context, job, notice);
  const { baseUrl, keys } = service;
  const losses = sampleLosses(context, job);
  return {
    connection: { kind: 'service', baseUrl, source: EMBEDDED_SOURCE, sample: true, keys, losses },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Bits of a file's mode that let the group or others read or change it. */
const FOR_OTHERS = 0o077;

/** A sentence for each key file that other users of this machine can read, with the command that protects it. */
export function exposedKeyFiles(keys: readonly { readonly file?: string }[]): string[] {
  // Windows has no such bits.
  if (platform() === 'win32') return [];
  return keys.flatMap(({ file }) => {
    // Reading the key says why a file has none.
    const stats = file === undefined ? null : resultOrNull(() => statSync(file));
    // A device is for others, and must stay so.
    if (!stats?.isFile() || (stats.mode & FOR_OTHERS) === 0) return [];
    const { mode } = stats;
    const octal = (mode & 0o777).toString(8).padStart(3, '0');
    return [
      `Others on this machine can read the key file (mode ${octal}). To protect it: chmod 600 ${shellWord(file!)}`,
    ];
  });
}

/** The address of a service and the name of its account are kept in the store and shown; a key in them would be too. @throws USAGE */
export function refuseKeyInNames(
  baseUrl: string,
  account: string,
  keys: readonly { readonly secret: string }[],
): void {
  const secrets = keys.map(({ secret }) => secret).filter(Boolean);
  const { text } = makeRedactor(secrets);
  for (const [what, setting, name] of [
    ["The service's address", 'base_url', baseUrl],
    ["The account's name", 'account', account],
  ] as const) {
    if (text(name) === name) continue;
    const hint = `Leave the key out of ${setting}: it is sent in a request header.`;
    throw new PerilbookError('USAGE', `${what} has the API key in it, and is not shown`, hint);
  }
}

/** A sentence where keys are sent to another machine without encryption. */
export function unencryptedKeys(baseUrl: string): string[] {
  if (!URL.canParse(baseUrl)) return [];
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || isLoopback(hostname)) return [];
  return [`The key is sent to ${hostname} unencrypted: use https:// if the service supports it.`];
}

/** The command that gets the agencies' data for a job; for a single location, the data of its state. */
export function getCommand(
  job: Pick<Job, 'topics' | 'input'>,
  folder: string,
  state?: string,
): string {
  const layers = job.topics.flatMap((topic) => loadCommandOf(topic) ?? []);
  const others = job.topics.filter((topic) => loadCommandOf(topic) === null);
  const get = `perilbook data get ${topicsText(others)} ${placesOption(job, folder, state)}`;
  return [...(others.length > 0 ? [get] : []), ...layers].join('; ');
}

function placesOption({ input }: Pick<Job, 'input'>, folder: string, state?: string): string {
  if (input !== '-') return `--for ${shellWord(shownPath(input, folder))}`;
  return `--states ${state ?? 'STATE'}`;
}

/** The command that gets the index with its loss rates, and the boundaries that it is for. */
export function getLossRatesCommand(input: string, folder: string): string {
  return `perilbook data get areas nri-tracts ${placesOption({ input }, folder)}`;
}

/** The sources of `perilbook data get` that hold the boundaries of each level. */
const BOUNDARY_SOURCES = { tract: 'areas', county: 'counties' } as const;

/** The command that gets the boundaries for the locations of an input. */
export function getBoundariesCommand(
  level: 'tract' | 'county',
  input: string,
  folder: string,
): string {
  const file = input === '-' ? 'FILE' : shellWord(shownPath(input, folder));
  return `perilbook data get ${BOUNDARY_SOURCES[level]} --for ${file}`;
}
