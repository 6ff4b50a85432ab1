import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import type { UiDependencies } from '../../src/page/files/dependencies.ts';
import { type RunningUi, startUi } from '../../src/page/start-ui.ts';
import type { RunUpdate } from '../../src/page/web/runs.ts';
import { reportOfLatestRun } from '../../src/report/figures/gather-facts.ts';
import { readLocalData } from '../../src/run/frame/local-data.ts';
import { startBin } from '../cli/bin-process.ts';
import { type Harness, type HarnessOptions, openHarness, type places } from '../run/harness.ts';
import { releaseLater } from '../service/small-data.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely
  readonly body: any;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer | object;
}

/** A browser without a window: a cookie, and the headers that browsers send. */
export interface Visitor {
  ask(method: string, path: string, ask?: Ask): Promise<Reply>;
  /** Uploads a file; returns its book. */
  upload(name: string, text: string | Buffer): Promise<Reply>;
  /** Watches until the run of a book has ended. */
  ended(book: string): Promise<RunUpdate>;
}

export interface UiScene {
  readonly harness: Harness;
  readonly ui: RunningUi;
  /** Somebody who has opened the page. */
  visit(): Promise<Visitor>;
  /** Somebody without a session. */
  stranger(): Visitor;
  /** Ends the page and starts another one over the same store and workspace. */
  restart(): Promise<UiScene>;
  readonly bugs: unknown[];
}

/** The page over a service, a store and a clock of the test (desk.ts). */
export async function openUi(
  t: TestContext,
  dependencies: SceneDependencies | ((harness: Harness) => SceneDependencies) = {},
  options: HarnessOptions = {},
): Promise<UiScene> {
  // While a report is drawn nothing else happens here. At 20 times a claim's lease of 220 s still lasts for eleven.
  const harness = await openHarness(t, { factor: 20, ...options });
  return await begin(
    t,
    harness,
    typeof dependencies === 'function' ? dependencies(harness) : dependencies,
  );
}

/** The page with a file of these places (or of this text) that a visitor has uploaded: its book. */
export async function openBook(
  t: TestContext,
  content: ReturnType<typeof places> | string,
  ...scene: [dependencies?: Parameters<typeof openUi>[1], options?: HarnessOptions]
) {
  const opened = await openUi(t, ...scene);
  const visitor = await opened.visit();
  const table = typeof content === 'string' ? content : opened.harness.writeInput(content);
  const { id } = (await visitor.upload('book.csv', table)).body;
  const post = (what: string, body: object = {}) =>
    visitor.ask('POST', `/api/files/${id}/${what}`, { body: { ...WILDFIRE, ...body } });
  /** Starts a run that may spend so much, and watches until it has ended. */
  const run = async (budget: number, body: object = {}) => {
    await post('start', { ...body, ...yes(budget) });
    return await visitor.ended(id);
  };
  return {
    ...opened,
    visitor,
    id,
    post,
    run,
    get: (path = '') => visitor.ask('GET', `/api/files/${id}${path}`),
  };
}

type SceneDependencies = Partial<UiDependencies> & { readonly sample?: boolean };

/** All three sources of answers: the service's own data as local data, the service, and as sample another account of it.
 * @param notLocal topics that the local data does not have */
export function allSources(harness: Harness, notLocal: readonly string[] = []): SceneDependencies {
  const base: JobFile = {
    anniversary_day: 31,
    subscription: { credits_per_month: 100_000, credits_per_minute: 100_000 },
    service: { base_url: harness.url },
  };
  harness.addAccount('made up', customSubscription(100_000, 100_000));
  const [own, other] = [harness.key(), harness.keyOf('made up')];
  return {
    jobOf: (said) =>
      makeJob([said, base], { dataFolder: harness.folder, workingFolder: harness.folder }),
    connectionOf: async ({ service, dataFile, topics }) => {
      if (service.kind !== 'local') {
        const sample = service.kind === 'sample';
        const keys = [sample ? other : own];
        return {
          kind: 'service',
          baseUrl: harness.url,
          source: sample ? 'embedded test' : 'harness',
          sample,
          keys,
        };
      }
      const data = readLocalData(dataFile, harness.clock.now())!;
      if (topics.some((topic) => data.topics.has(topic) && !notLocal.includes(topic))) {
        return { kind: 'local', source: 'local test', sample: false, data };
      }
      throw new PerilbookError(
        'LOCAL_DATA',
        `No data for ${topics.join(' ')}`,
        'Get it: perilbook data get.',
      );
    },
  };
}

async function begin(
  t: TestContext,
  harness: Harness,
  dependencies: SceneDependencies,
): Promise<UiScene> {
  const bugs: unknown[] = [];
  const opened = await openUiOf(harness, {
    onBug: (error) => bugs.push(error),
    ...dependencies,
  });
  const { ui, visit, close } = opened;
  releaseLater(t, close);
  return {
    ...{ harness, ui, bugs, visit },
    stranger: () => visitor(ui.port, null),
    async restart() {
      await close();
      return await begin(t, harness, dependencies);
    },
  };
}

/** The page over the service, the store and the clock of a harness, which the caller closes. */
export async function openUiOf(
  harness: Harness,
  { sample = false, ...dependencies }: SceneDependencies,
) {
  const key = harness.key();
  const { subscription } = harness.job().account;
  const base: JobFile = {
    anniversary_day: 31,
    subscription: {
      credits_per_month: subscription.creditsPerMonth,
      credits_per_minute: subscription.creditsPerMinute,
    },
    ...(sample
      ? { service: 'sample' as const }
      : { service: { base_url: harness.url }, account: 'tester' }),
  };
  const connectionOf: UiDependencies['connectionOf'] =
    dependencies.connectionOf ??
    (async () => ({
      kind: 'service',
      baseUrl: harness.url,
      source: 'harness',
      sample,
      keys: [key],
    }));
  const effects = {
    ...{
      clock: harness.clock,
      random: Math.random,
      openAreas: harness.openAreas,
      notice: () => {},
    },
    streams: { stdin: new PassThrough(), stdout: new PassThrough() },
  };
  const ui = await startUi({
    store: harness.store,
    clock: harness.clock,
    random: Math.random,
    jobOf: (said) =>
      makeJob([said, base], { dataFolder: harness.folder, workingFolder: harness.folder }),
    connectionOf,
    openAreas: harness.openAreas,
    requireAreas: (job) => harness.openAreas(job)[Symbol.dispose](),
    reportOf: async (job) =>
      reportOfLatestRun(job, await connectionOf(job), harness.store, effects),
    dataFor: async () => null,
    workspace: join(harness.folder, 'ui'),
    workingFolder: harness.folder,
    first: null,
    mostBudget: null,
    port: 0,
    onBug: (error) => {
      throw error;
    },
    ...dependencies,
  });
  let closed: Promise<number> | null = null;
  const close = () => {
    closed ??= ui.close();
    return closed;
  };
  return {
    ...{ ui, close },
    visit: async () => visitor(ui.port, await enter(ui.newAddress())),
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** Opens a page by the address that the terminal shows; returns the cookie of its session. */
export async function enter(address: string): Promise<string> {
  const { port, search } = new URL(address);
  const { headers } = await visitor(Number(port), null).ask('GET', `/${search}`);
  return String(headers['set-cookie']).split(';')[0]!;
}

/** The page of the bin in a process of its own, and its address. */
export async function startPage(
  t: TestContext,
  args: readonly string[],
  ...folderAndEnv: [string, Record<string, string>?, { readonly shell?: string }?]
) {
  const bin = startBin(t, ['ui', ...args], ...folderAndEnv);
  await bin.said('token=');
  return { ...bin, address: /http:\S+/.exec(bin.text())![0] };
}

/** Speaks to a page as a browser does. */
export function visitor(port: number, cookie: string | null): Visitor {
  const send = async (
    method: string,
    path: string,
    { headers = {}, body }: Ask = {},
  ): Promise<IncomingMessage> => {
    const isPlain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const all = {
      host: `127.0.0.1:${port}`,
      ...(cookie === null ? {} : { cookie }),
      ...(method === 'GET' ? {} : { origin: `http://127.0.0.1:${port}` }),
      ...(isPlain ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const known = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    );
    // A refused upload may break off after its answer.
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: known }).on(
      'error',
      () => {},
    );
    request.end(isPlain ? body : JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
  const ask: Visitor['ask'] = async (...asked) => {
    const response = await send(...asked);
    const { headers, statusCode } = response;
    const answer = await text(response);
    const isJson = answer !== '' && headers['content-type']?.startsWith('application/json');
    return { status: statusCode!, headers, text: answer, body: isJson ? JSON.parse(answer) : null };
  };
  return {
    ask,
    upload: (name, content) =>
      ask('POST', `/api/files?name=${encodeURIComponent(name)}`, {
        headers: { 'content-type': 'application/octet-stream' },
        body: content,
      }),
    async ended(book) {
      const response = await send('GET', `/api/files/${book}/events`);
      let received = '';
      for await (const chunk of response.setEncoding('utf8')) {
        received += chunk;
        const events = received.split('\n\n').filter((event) => event.startsWith('data: '));
        received = received.slice(received.lastIndexOf('\n\n') + 2);
        const live = events.map((event) => JSON.parse(event.slice(6)) as RunUpdate | null).at(-1);
        if (live?.phase === 'ended' || live?.phase === 'failed') return live;
      }
      throw new Error('The events ended before the run');
    },
  };
}

/** The sentence that stands for a yes, as the page sends it. */
export function yes(budget: number): { budget: number; confirmed: string } {
  const credits = `${budget.toLocaleString('en-US')} ${budget === 1 ? 'credit' : 'credits'}`;
  return { budget, confirmed: budget === 0 ? 'Spend nothing' : `Spend at most ${credits}` };
}

/** One credit a cell. */
export const WILDFIRE = { lat: 1, lng: 2, topics: ['wildfire'], optimize: 'credits' };
