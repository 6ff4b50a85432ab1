import { resolve } from 'node:path';
import { unopenedConnection } from '../../library/connection.ts';
import { approvablePlan } from '../../run/approval.ts';
import { planOutput, writePlan } from '../../run/plan/approved-plan.ts';
import { prepare } from '../../run/prepare.ts';
import { checkFiles } from '../check-files.ts';
import type { Flags } from '../command.ts';
import { type CliContext, connectionContext, lineWidth, print, say, sayJson } from '../context.ts';
import { runEffects } from '../effects.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOf, jobWords } from '../job-of-options.ts';
import { colorFor } from '../messages/color.ts';
import { planMessages } from '../messages/plan-messages.ts';
import { openStore } from '../open-store.ts';
import { showProgress } from '../progress/show.ts';

/** `perilbook plan`: scans and prices, spends nothing. The plan is the command's output, so it goes to stdout. */
export async function planCommand(context: CliContext, flags: Flags): Promise<number> {
  const job = jobOf(context, jobWords(flags), flags);
  const out = flags.out as string | undefined;
  const planFile = resolve(context.workingFolder, out ?? '');
  if (out !== undefined) await checkFiles(flags, job, [planOutput(planFile)]);
  await using store = await openStore(context, job);
  using prepared = await price();
  if (out !== undefined) await writePlan(planFile, approvablePlan(prepared, context.clock.now()));
  if (flags.json) sayJson(context, prepared.summary);
  else {
    const style = { width: lineWidth(context.stdout), color: colorFor(context, context.stdout) };
    const lines = planMessages(prepared, context.workingFolder, style);
    print(context, lines.join('\n'));
  }
  if (out !== undefined) say(context, `Wrote the plan to ${out}. Once approved: perilbook run … --plan ${out}`);
  return EXIT.complete;

  async function price() {
    using show = await showProgress(context, context.stderr.isTTY !== true);
    const connection = unopenedConnection(connectionContext(context), job);
    const effects = runEffects(context, show.say);
    return await prepare(job, { connection, store, effects, progress: show.progress, onComplete: null });
  }
}
