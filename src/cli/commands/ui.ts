import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import { connect, type OpenConnection, unopenedConnection } from '../../host/connection.ts';
import { makeEffects, openAreas, requireAreas } from '../../host/run-host.ts';
import type { Job } from '../../job/settings.ts';
import { divideTopics } from '../../job/topic-choice.ts';
import { type RunningUi, startUi } from '../../page/start-ui.ts';
import { reportOfLatestRun } from '../../report/figures/gather-facts.ts';
import { endTemporary, removeAbandoned, temporaryName } from '../../rows/files/temporary-files.ts';
import type { Connection } from '../../run/frame/connection-kinds.ts';
import { type CliContext, dataFolder, runHost, say } from '../frame/context.ts';
import { withoutSecrets } from '../frame/finish.ts';
import { jobOfAccount } from '../frame/job-of-options.ts';
import { dataForPage } from '../frame/offer-data.ts';
import { openStore } from '../frame/open-store.ts';
import { shownPath } from '../messages/format.ts';
import { SAMPLE_DATA } from '../messages/input-messages.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** `perilbook ui`: serves the page in the browser until Ctrl-C. */
export async function uiCommand(
  context: CliContext,
  flags: Flags<'ui'>,
  words: readonly string[],
): Promise<number> {
  const [target] = words;
  const port = flags.port ?? 0;
  // The page has no options.
  const host = { ...runHost(context), otherSources: '' };
  const jobOf = jobOfAccount(context, words, flags);
  const base = jobOf({ input: '-' });
  await using store = await openStore(context, base);
  await using opened = new AsyncDisposableStack();
  // One sample service for all runs.
  let sample: Promise<OpenConnection> | undefined;
  const connectionOf = async (job: Job): Promise<Connection> => {
    // Local data may be loaded and a key file may change while the page is open.
    if (job.service.kind !== 'sample') return (await connect(host, job)).connection;
    // The files that will be opened may ask for any topic.
    const { asked: topics } = divideTopics('sample', TOPIC_SLUGS);
    const asked: Job = { ...base, service: { kind: 'sample' }, topics };
    sample ??= connect(host, asked).then((connected) => opened.use(connected));
    return (await sample).connection;
  };
  // A missing key is an error at the start, not later on the page. Missing data is not: the page offers to download it.
  const first = await connectionOf(base).catch((error: unknown) => {
    if (error instanceof PerilbookError && error.code === 'LOCAL_DATA') return null;
    throw error;
  });
  const workspace = join(dataFolder(context), 'ui');
  const ui = await startUi({
    store,
    clock: context.clock,
    random: context.random,
    jobOf,
    connectionOf,
    openAreas: (job) => openAreas(host, job),
    requireAreas: (job) => requireAreas(host, job),
    reportOf: async (job) =>
      reportOfLatestRun(job, await unopenedConnection(host, job), store, makeEffects(host)),
    dataFor: (job, isApproved) => dataForPage(context, job, isApproved),
    workspace,
    workingFolder: context.workingFolder,
    first: target === undefined || /\.ya?ml$/i.test(target) ? null : target,
    mostBudget: base.budget,
    port,
    onBug: (error) =>
      say(
        context,
        `this is a bug, please report it: ${error instanceof Error ? error.stack : error}`,
        'error',
      ),
  });
  return await serve(context, base, ui, { workspace, isSample: first?.sample === true });
}

async function serve(
  context: CliContext,
  base: Job,
  ui: RunningUi,
  { workspace, isSample }: { readonly workspace: string; readonly isSample: boolean },
): Promise<number> {
  const address = ui.newAddress();
  if (isSample) say(context, SAMPLE_DATA);
  const stop = 'Press Ctrl-C to stop the page and its runs.';
  const kept = `Uploads and outputs are in ${shownPath(workspace, context.workingFolder)}; a start of the page removes what nobody has used for a day.`;
  say(
    context,
    `Open this address on this machine; it works once:\n\n  ${address}\n\n${kept}\n${stop}`,
  );
  const { stdin } = context;
  let removeEntry = () => {};
  const onEnter = () => say(context, `New address: ${ui.newAddress()}`);
  if (stdin.isTTY) {
    say(context, 'Press Enter for another address.');
    removeEntry = await openBrowser(context, base, address);
    stdin.on('data', onEnter);
  }
  try {
    if (!context.interrupt.aborted) await once(context.interrupt, 'abort');
    return (await ui.close()) > 0 ? EXIT.interrupted : EXIT.complete;
  } finally {
    stdin.off('data', onEnter);
    stdin.pause();
    removeEntry();
  }
}

/** What opens a file as a double click does. Other systems have it only with a desktop. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  win32: 'explorer',
};

/** Opens the browser if there is a desktop. It is given a file that leads to the page: every user of the machine can read the
 * arguments of a program, and could use the address first. A failure is no error, because the address is printed too.
 * @returns removes the file */
async function openBrowser(context: CliContext, base: Job, address: string): Promise<() => void> {
  const env = withoutSecrets(context.env, base);
  const opener = OPENERS[platform()] ?? (env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : null);
  if (opener === null) return () => {};
  const target = join(dataFolder(context), 'open-page');
  await removeAbandoned(target);
  const folder = temporaryName(target);
  const file = join(folder, 'perilbook.html');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${address}">\n`, {
    mode: 0o600,
  });
  const child = spawn(opener, [file], { env, stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
  return () => {
    rmSync(folder, { recursive: true, force: true });
    endTemporary(folder);
  };
}
