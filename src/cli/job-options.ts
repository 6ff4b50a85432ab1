import {
  type Given,
  helpOf,
  listOf,
  SETTING_LIST,
  type SettingFlag,
  type SettingGroup,
  type SettingName,
} from '../run/settings/setting-table.ts';
import type { CommandOption } from './command.ts';

/** An option of the command line that gives a setting. */
export interface JobOption extends SettingFlag {
  readonly flag: string;
  readonly setting: SettingName;
  readonly group: SettingGroup;
  readonly help: string;
}

/** The options as plain data: parsing and help need not load the libraries that check a job (job-of-options.ts). */
export const JOB_OPTIONS: readonly JobOption[] = SETTING_LIST.flatMap(([setting, line]) =>
  Object.entries(line.flags ?? {}).map(([flag, option]) => ({
    ...option,
    flag,
    setting,
    group: line.group,
    help: helpOf({ ...line, help: option.help ?? line.help }),
  })),
);

/** The setting that an option gives, in the terms of the job file. */
export function settingOf({ type, value = (given) => given }: JobOption, given: Given): unknown {
  switch (type) {
    case 'number':
      return value(Number(given));
    case 'switch':
      return value(given === true);
    case 'list':
      return listOf(given);
    case 'share':
      // `5 %` or 0.05. Anything else is left for the schema to refuse.
      return value(String(given).trim() === '' || Number.isNaN(Number(given)) ? String(given).trim() : Number(given));
    default:
      return value(String(given));
  }
}

/** The options of a command that reads a job: only `flags`, or all. Help hides the rarely used ones. */
export function jobOptions(flags?: readonly string[]): Record<string, CommandOption> {
  return Object.fromEntries(
    JOB_OPTIONS.filter(({ flag }) => flags === undefined || flags.includes(flag)).map(
      ({ flag, alias, type, help, group, isFrequent }) => [
        flag,
        {
          type: type === 'number' ? type : type === 'switch' ? 'boolean' : 'string',
          describe: help,
          group,
          ...(alias ? { alias } : {}),
          ...(flags === undefined && !isFrequent ? { hidden: true } : {}),
        },
      ],
    ),
  );
}

/** Options for the billing period of an account. */
export const ACCOUNT_FLAGS: readonly string[] = [
  ...['service', 'base-url', 'api-key-file', 'account', 'subscription', 'anniversary-day'],
  ...['reserve', 'overage-ceiling', 'store'],
];

/** Options for a command that gets its inputs later. */
export const LATER_INPUT_FLAGS: readonly string[] = [...ACCOUNT_FLAGS, 'budget', 'time-to-live', 'concurrency'];
