import { openRun } from '../../host/run-host.ts';
import { NO_FIELDS } from '../../run/plan/planning.ts';
import { priceJob } from '../../run/prepare.ts';
import { lineWidth, print, runHost, say, sayJson } from '../frame/context.ts';
import { readJob } from '../frame/job-of-options.ts';
import { colorFor, readingMessage } from '../messages/format.ts';
import { firstRowMessages } from '../messages/input-messages.ts';
import { planMessages } from '../messages/plan-messages.ts';
import type { RunCommand } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { showProgress } from '../progress/show.ts';

/** `perilbook plan`: scans and prices, spends nothing. The plan is the command's output, so it goes to stdout. */
export const planCommand: RunCommand<Flags<'plan'>> = async (context, flags, words) => {
  const job = readJob(context, words, flags);
  if (context.stderr.isTTY) say(context, readingMessage(words));
  using prepared = await price();
  if (flags.json) sayJson(context, prepared.summary);
  else {
    const style = { width: lineWidth(context.stdout), color: colorFor(context, context.stdout) };
    const lines = [
      ...planMessages(prepared, context.workingFolder, style),
      ...(await firstRowMessages(prepared, style.width)),
    ];
    print(context, lines.join('\n'));
  }

  async function price() {
    using show = showProgress(context, context.stderr.isTTY !== true);
    await using opened = await openRun(runHost(context, show.say), job, {
      isPlan: true,
      progress: show.progress,
    });
    return await priceJob(opened.context, opened.renew, { fieldsOf: NO_FIELDS });
  }
};
