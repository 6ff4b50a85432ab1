import { resolve } from 'node:path';
import { counted } from '../../base/format-numbers.ts';
import { commandLine } from '../../base/shell-words.ts';
import { openAreas } from '../../host/run-host.ts';
import { jobFileJsonSchema } from '../../job/job-file.ts';
import { type JobProblem, readJobText } from '../../job/read-job-file.ts';
import { formatOfOutput } from '../../rows/open/file-formats.ts';
import { checkJob } from '../../run/check-job.ts';
import { type CliContext, print, printJson, runHost, sayJson } from '../frame/context.ts';
import { isJobFile } from '../frame/job-of-options.ts';
import type { JobCheckJson, JobProblemJson } from '../json/check-json.ts';
import { colorFor } from '../messages/format.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT } from '../options/exit-codes.ts';

/** `perilbook job check FILE`: lists all errors of a job file; spends nothing, opens no store. */
const jobCheckCommand: RunCommand<Flags<'job check'>> = async (context, flags, [file]) => {
  if (file === undefined)
    throw usageError('Missing job file', 'Name it: perilbook job check FILE.yaml');
  if (!isJobFile(file) && formatOfOutput(file) !== null) {
    const check = commandLine('plan', [file], {});
    const hint = `A job file ends in .yaml. To check an input: ${check}.`;
    throw usageError(`${file} is an input file, not a job file`, hint);
  }
  const path = resolve(context.workingFolder, file);
  const host = runHost(context);
  const { problems, warnings } = await checkJob(readJobText(path, file), path, {
    ...host,
    openAreas: (job) => openAreas(host, job),
  });
  if (flags.json) {
    const asJson = (listed: readonly JobProblem[]): JobProblemJson[] =>
      listed.map(({ line, column, message, hint }) => ({ line, column, message, hint }));
    const value: JobCheckJson = {
      file,
      ok: problems.length === 0,
      problems: asJson(problems),
      warnings: asJson(warnings),
    };
    sayJson(context, value);
  } else {
    const color = colorFor(context, context.stdout);
    const words = (kind: string, { line, column, message, shown, hint }: JobProblem) =>
      `${file}:${line}:${column}: ${kind}${message}${shown}${hint === undefined ? '' : `\n  hint: ${hint}`}`;
    const verdict =
      problems.length > 0
        ? `${counted(problems.length, 'error')}: this job cannot run.`
        : `${file} is valid${warnings.length > 0 ? `, with ${counted(warnings.length, 'warning')}` : ''}.`;
    const lines = [
      ...problems.map((problem) => words('', problem)),
      ...warnings.map((warning) => words('warning: ', warning)),
      color('bold', verdict),
    ];
    print(context, lines.join('\n'));
  }
  return problems.length === 0 ? EXIT.complete : EXIT.usage;
};

export const jobCommands = {
  'job check': jobCheckCommand,
  'job schema': async (context: CliContext): Promise<undefined> =>
    void printJson(context, jobFileJsonSchema()),
};
