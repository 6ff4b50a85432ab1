import {
  formatHelp,
  type Given,
  type JobFlags,
  type JobOptionName,
  listOf,
  SETTING_LIST,
  type SettingFlag,
  type SettingGroup,
  type SettingName,
} from '../job/setting-table.ts';
import type { CommandOption } from './command.ts';

export interface JobOption extends SettingFlag {
  readonly flag: JobOptionName;
  readonly setting: SettingName;
  readonly group: SettingGroup;
  readonly help: string;
}

/** The options as plain data: parsing and help need not load the libraries that check a job (job-of-options.ts). */
export const JOB_OPTIONS: readonly JobOption[] = SETTING_LIST.flatMap(([setting, line]) =>
  Object.entries(line.flags ?? {}).map(([flag, option]) => ({
    ...option,
    flag: flag as JobOptionName,
    setting,
    group: line.group,
    help: formatHelp({ ...line, help: option.help ?? line.help }),
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

/** Options by name, with the types of their values. */
type JobOptionTable<Name extends JobOptionName> = {
  readonly [N in Name]: CommandOption & {
    readonly type: NonNullable<JobFlags[N]> extends number
      ? 'number'
      : NonNullable<JobFlags[N]> extends boolean
        ? 'boolean'
        : 'string';
  };
};

/** The options of a command that reads a job: only `flags`, or all. Help hides the rarely used ones. */
export function jobOptions<Name extends JobOptionName = JobOptionName>(flags?: readonly Name[]): JobOptionTable<Name> {
  const names: readonly string[] | undefined = flags;
  return Object.fromEntries(
    JOB_OPTIONS.filter(({ flag }) => names === undefined || names.includes(flag)).map(
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
  ) as JobOptionTable<Name>;
}
