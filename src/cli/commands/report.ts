import { basename, dirname, join, resolve } from 'node:path';
import { prepare } from '../../job/prepare.ts';
import type { Job } from '../../job/settings/settings.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import { checkOutput, openOutput, writeWhole } from '../../rows/files/output-file.ts';
import type { Flags } from '../command.ts';
import { unopenedConnection } from '../connection.ts';
import { effectsOf } from '../effects.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOf } from '../job-options.ts';
import { latestRun, makeReport } from '../make-report.ts';
import { openStore } from '../open-store.ts';
import { shownPath } from '../printed/words.ts';
import { say, type World } from '../world.ts';

/** `perilbook report`: the page about a job as its latest run left it. Asks nobody, spends nothing. */
export async function reportCommand(world: World, given: Flags): Promise<number> {
  const flags = withPageNamed(given);
  const job = jobOf(world, flags.job as string | undefined, flags);
  const file = reportFile(world, flags) ?? besideOutput(job, world.workingFolder);
  await checkOutput(file, job.input, [job.store]);
  const store = openStore(world, job);
  try {
    const run = await latestRun(job, store);
    // As of that run: an answer that went stale since was fresh in the output that the page is about.
    const asOf = run?.startedAt ?? world.clock.now();
    const prepared = await prepare(job, unopenedConnection(world, job), store, effectsOf(world), undefined, asOf);
    const page = await makeReport(prepared, store, world.clock.now());
    await writeReport(world, file, page);
    if (file !== '-') say(world, `The report is in ${shownPath(file, world.workingFolder)}`);
    return EXIT.complete;
  } finally {
    await store.close();
  }
}

/** A page that is named by `-o` is what was meant: no book is written here, and none is called `.html`. */
function withPageNamed(flags: Flags): Flags {
  const { output, report, ...others } = flags;
  const isPage = report === undefined && typeof output === 'string' && /\.html?$/i.test(output);
  return isPage ? { ...others, report: output } : flags;
}

/** The file that `--report` names, from the working folder; null where it was not said. */
export function reportFile(world: World, flags: Flags): string | null {
  const said = flags.report as string | undefined;
  return said === undefined || said === '-' ? (said ?? null) : resolve(world.workingFolder, said);
}

/** Writes the page whole or not at all. @throws OUTPUT_UNWRITABLE */
export async function writeReport(world: World, file: string, page: string): Promise<void> {
  const output = await openOutput(file, null, world.stdout);
  await writeWhole(output, undefined, () => output.write(Buffer.from(page)));
}

function besideOutput({ output, name }: Job, folder: string): string {
  if (output === '-') return join(folder, `${name.replace(/[^\w.-]+/g, '-')}.report.html`);
  return join(dirname(output), `${basename(output, extensionOf(output))}.report.html`);
}
