import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readInputPath } from '../../base/path-names.ts';
import { dataFolderOf, homeFolder, NO_FOLDER } from '../../base/platform-folders.ts';
import { isSamePath } from '../../base/same-path.ts';
import type { SchemaIssue } from '../../base/schema-issues.ts';
import { commandLine, shellWord } from '../../base/shell-words.ts';
import { checkSettings, type JobFile } from '../../job/job-file.ts';
import { definedOnly, mergeJobFiles, relativeTo } from '../../job/merge-settings.ts';
import { readJobFile } from '../../job/read-job-file.ts';
import type { Given, JobFlags } from '../../job/setting-table.ts';
import { listOf } from '../../job/setting-texts.ts';
import { type Job, type JobFolders, makeJob } from '../../job/settings.ts';
import { parseTopics } from '../../job/topic-choice.ts';
import { requireFile } from '../../rows/files/input-file.ts';
import { isPattern } from '../../rows/parts/list-parts.ts';
import { shownAddress } from '../../sql/postgres-address.ts';
import {
  JOB_OPTIONS,
  type JobOption,
  notANumber,
  pathGiven,
  settingOf,
  usageError,
} from '../options/command.ts';
import type { CliContext } from './context.ts';
import { openExistingStore } from './open-store.ts';

/** The job of a command line: flags override the environment, the job file, and the defaults.
 * @param words a job file, an input, or several input files
 * @throws USAGE, JOB_FILE */
export function readJob(
  context: CliContext,
  words: readonly string[],
  flags: JobFlags & { limit?: number | undefined },
): Job {
  const jobFile = words.length === 1 ? words.find(isJobFile) : undefined;
  const job = makeJob(gatherSettings(context, words, flags), { ...foldersOf(context), jobFile });
  return { ...job, limit: flags.limit ?? null };
}

/** Options that do not change what a run has answered. */
const OF_REPORT: readonly string[] = ['store', 'name', 'output', 'units', 'currency', 'id'];

/** The job of a report. The options are laid over the settings of the file's last run, as over a job file, so that nobody types them again.
 * @throws USAGE for a file without a run, JOB_FILE, INPUT_UNREADABLE, and what opening the store throws */
export async function jobOfReport(
  context: CliContext,
  words: readonly string[],
  flags: JobFlags,
): Promise<Job> {
  if (words.length === 0 || words.some(isJobFile)) return readJob(context, words, flags);
  const plain = readOptionalJob(context, words, flags);
  await using store = await openExistingStore(context, plain, flags);
  const runs = await store.runs(flags.name === undefined ? {} : { job: flags.name });
  const ofInput = runs.find(({ input }) => isSamePath(input, plain.input));
  // Many name the file that a run has written.
  const last = ofInput ?? runs.find(({ output }) => isSamePath(output, plain.input));
  const [fromFlags, fromEnv, ofWords] = gatherSettings(context, words, flags);
  if (last !== undefined) {
    const ofRun = { name: last.job, store: plain.store };
    const input = ofInput === undefined ? { input: last.input } : ofWords;
    return makeJob(
      [fromFlags, input, ofRun, (last.settings ?? fromEnv) as JobFile],
      foldersOf(context),
    );
  }
  if (JOB_OPTIONS.some(({ flag }) => !OF_REPORT.includes(flag) && flags[flag] !== undefined)) {
    return readJob(context, words, flags);
  }
  for (const word of words) {
    if (word !== '-' && !isPattern(word)) requireFile(resolve(context.workingFolder, word));
  }
  const named = flags.name === undefined ? '' : ` of the name ${flags.name}`;
  throw usageError(
    `${words.join(' ')} has no run${named} in the store ${shownAddress(plain.store)}`,
    `Run it first: ${commandLine('run', words, { store: flags.store, name: flags.name })}. If it ran with another store, name that: --store or PERILBOOK_STORE.`,
  );
}

/** The settings of the command line and the environment; null if the command line names a job file. */
export function settingsWithoutJobFile(
  context: CliContext,
  words: readonly string[],
  flags: JobFlags,
): JobFile | null {
  if (words.some(isJobFile)) return null;
  const [fromFlags, fromEnv] = gatherSettings(context, words, flags);
  return mergeJobFiles(fromEnv, fromFlags);
}

/** Settings that belong to one input. */
const OF_ONE_INPUT: readonly string[] = [
  ...[
    'name',
    'input',
    'output',
    'delimiter',
    'header',
    'header_line',
    'sheet',
    'encoding',
    'location',
    'coordinates',
  ],
  ...['topics', 'order_by', 'areas', 'optimize'],
];

/** Makes jobs for inputs that are named later, with the account and the service of this command line. */
export function jobOfAccount(
  context: CliContext,
  words: readonly string[],
  flags: JobFlags,
): (later: JobFile) => Job {
  const base = gatherSettings(context, words, flags).map((part) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !OF_ONE_INPUT.includes(name))),
  );
  return (later) => makeJob([later, ...base], foldersOf(context));
}

function foldersOf(context: CliContext): JobFolders {
  const { env, workingFolder } = context;
  return {
    dataFolder: dataFolderOf(env) ?? NO_FOLDER,
    homeFolder: homeFolder(env),
    workingFolder,
    env,
  };
}

/** Whether a word of a command line names a job file. */
export function isJobFile(word: string): boolean {
  return /\.ya?ml$/i.test(word);
}

function gatherSettings(context: CliContext, words: readonly string[], flags: JobFlags) {
  const help = `See perilbook ${context.command ?? 'run'} --help.`;
  const fromFlags = gather(help, ({ flag }) => [`--${flag}`, flags[flag]]);
  const fromEnv = gather(help, ({ env = '' }) => [env, context.env[env] || undefined]);
  refuseTopics(context, words, flags);
  return [fromFlags, fromEnv, settingsOfWords(context, words)] as const;
}

/** `--topics wildfire hail` names a file that is called hail. @throws USAGE */
function refuseTopics(
  { workingFolder }: CliContext,
  words: readonly string[],
  { topics = '' }: JobFlags,
): void {
  const named = words.filter(
    (word) => parseTopics(word).length > 0 && !existsSync(resolve(workingFolder, word)),
  );
  if (named.length === 0) return;
  const what = named.length === 1 ? 'is a topic, not a file' : 'are topics, not files';
  const all = [...listOf(topics), ...named].join(',');
  throw usageError(
    `${named.join(', ')} ${what}`,
    `Topics are joined by commas: --topics ${shellWord(all)}.`,
  );
}

/** The settings of a job file, or the input. @throws USAGE, JOB_FILE */
function settingsOfWords({ workingFolder }: CliContext, words: readonly string[]): JobFile {
  const [first] = words;
  const jobFile = words.find(isJobFile);
  if (first === undefined) return {};
  if (jobFile === undefined) {
    const paths = words.map((word) => pathGiven('the input', word, readInputPath));
    return { input: paths.length === 1 ? paths[0]! : paths };
  }
  if (words.length === 1)
    return relativeTo(dirname(jobFile), readJobFile(resolve(workingFolder, jobFile), jobFile));
  const hint = 'Name the input files in it (input:), or leave it out.';
  throw usageError(`The job file ${jobFile} cannot be combined with other arguments`, hint);
}

/** A job for commands that need only its store and account, not its input. */
export function readOptionalJob(
  context: CliContext,
  words: readonly string[],
  flags: JobFlags,
): Job {
  const jobFile = words.find(isJobFile);
  return makeJob([...gatherSettings(context, words, flags), { input: '-' }], {
    ...foldersOf(context),
    jobFile,
  });
}

/** Checks each value on its own, so that a message can name its flag. */
function gather(
  help: string,
  read: (option: JobOption) => readonly [name: string, given: Given | undefined],
): JobFile {
  let job: JobFile = {};
  for (const option of JOB_OPTIONS) {
    const [name, given] = read(option);
    if (given === undefined) continue;
    if (option.type === 'number' && (Number.isNaN(Number(given)) || String(given).trim() === '')) {
      throw notANumber(name);
    }
    const part = checkedPart(option, given, option.isHidden ? name : `${name} ${given}`, help);
    if (
      part.service !== undefined &&
      job.service !== undefined &&
      typeof part.service !== typeof job.service
    ) {
      throw usageError(
        '--service cannot be combined with --base-url and --api-key-file',
        'Leave out --service, or --base-url with --api-key-file.',
      );
    }
    const location = { ...job.location, ...part.location };
    if (
      (location.column ?? location.order) !== undefined &&
      (location.lat ?? location.lng) !== undefined
    ) {
      const hint = 'Give one column with both, or one for each.';
      throw usageError('--location cannot be combined with --lat and --lng', hint);
    }
    job = mergeJobFiles(job, part);
  }
  return job;
}

/** The job file with the same setting as an option. `shown`: the option's name in messages. @throws USAGE */
function checkedPart(option: JobOption, given: Given, shown: string, help: string): JobFile {
  const part: JobFile = definedOnly({ [option.setting]: settingOf(option, given) });
  // The address has its own option, or is in the job file.
  const isWithoutAddress = typeof part.service === 'object' && part.service.base_url === '';
  const { settings, issues } = checkSettings(
    isWithoutAddress
      ? { service: { ...(part.service as object), base_url: 'http://localhost' } }
      : part,
    true,
  );
  if (issues.length > 0) {
    const [{ message, hint = help }] = issues as [SchemaIssue];
    throw usageError(`${shown}: ${message}`, hint);
  }
  return isWithoutAddress && typeof settings.service === 'object'
    ? { service: { ...settings.service, base_url: '' } }
    : settings;
}
