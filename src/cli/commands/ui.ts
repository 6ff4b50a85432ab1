import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '../../job/prepare.ts';
import type { Job } from '../../job/settings/settings.ts';
import { reportOfLatestRun } from '../../report/make-report.ts';
import { type RunningUi, startUi } from '../../ui/start-ui.ts';
import type { Flags } from '../command.ts';
import { connect, unopenedConnection } from '../connection.ts';
import { type CliContext, dataFolder, say } from '../context.ts';
import { runEffects } from '../effects.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOfAccount } from '../job-options.ts';
import { openStore } from '../open-store.ts';
import { portOf, wholeNumberOf } from '../option-values.ts';

const MEGABYTE = 1_000_000;
const MOST_UPLOAD_MB = 2_000;
/** A petabyte: beyond it the bytes are no exact numbers soon. */
const MOST_UPLOAD_LIMIT_MB = 1_000_000_000;

/** `perilbook ui`: the page for those who do not use terminals, until Ctrl-C. */
export async function uiCommand(context: CliContext, flags: Flags): Promise<number> {
  const said = flags.job as string | undefined;
  const port = portOf(flags) ?? 0;
  const mostUpload = (wholeNumberOf(flags, 'max-upload', 1, MOST_UPLOAD_LIMIT_MB) ?? MOST_UPLOAD_MB) * MEGABYTE;
  const jobOf = jobOfAccount(context, said, flags);
  const base = jobOf({ input: '-' });
  const store = openStore(context, base);
  try {
    // Once for all runs; without a key nothing could be bought, and that is better said here than on the page.
    const { connection, close } = await connect(context, base);
    try {
      const ui = await startUi({
        store,
        clock: context.clock,
        random: context.random,
        jobOf,
        // A key file may be written anew while the page is open; the embedded service's key lives as long as this.
        connectionOf: async (job: Job): Promise<Connection> =>
          job.service.kind === 'remote' ? (await connect(context, job)).connection : connection,
        reportOf: (job) => reportOfLatestRun(job, unopenedConnection(context, job), store, runEffects(context)),
        workspace: join(dataFolder(context), 'ui'),
        workingFolder: context.workingFolder,
        first: said === undefined || /\.ya?ml$/i.test(said) ? null : said,
        mostUpload,
        mostBudget: base.budget,
        port,
        onBug: (error) => say(context, `perilbook: a bug of ours: ${error instanceof Error ? error.stack : error}`),
      });
      return await serve(context, ui, connection.sample);
    } finally {
      await close();
    }
  } finally {
    await store.close();
  }
}

async function serve(context: CliContext, ui: RunningUi, sample: boolean): Promise<number> {
  const address = ui.newAddress();
  if (sample) say(context, 'The answers come from the embedded service: sample data, not for decisions.');
  say(
    context,
    `The page is at\n\n  ${address}\n\nfor one visit, on this machine only. Ctrl-C ends it and stops what runs.`,
  );
  const { stdin } = context;
  const onEnter = () => say(context, `A new address: ${ui.newAddress()}`);
  if (stdin.isTTY) {
    say(context, 'Enter gives another address.');
    openBrowser(context, address);
    stdin.on('data', onEnter);
  }
  try {
    await interrupted(context.interrupt);
    return (await ui.close()) > 0 ? EXIT.interrupted : EXIT.complete;
  } finally {
    stdin.off('data', onEnter);
    stdin.pause();
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Where somebody sits at the terminal and has a desktop; that it does not open is no error, the address is there to read. */
function openBrowser({ env }: CliContext, address: string): void {
  const isMac = platform() === 'darwin';
  if (!isMac && !env.DISPLAY && !env.WAYLAND_DISPLAY) return;
  const child = spawn(isMac ? 'open' : 'xdg-open', [address], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
