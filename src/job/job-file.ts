import { z } from 'zod';
import { issueText, listIssues, type SettingIssue, type SettingsSchema } from './setting-issues.ts';
import { SCHEMAS } from './setting-schemas.ts';
import { formatHelp, SETTING_LIST, type SETTINGS, type SettingName } from './setting-table.ts';

type Shape = {
  -readonly [K in SettingName]: z.ZodOptional<ReturnType<(typeof SETTINGS)[K]['schema']>>;
};

/** The settings of a job file. All are optional: flags, the environment and the defaults add the rest. */
export const jobFileSchema = z.strictObject(
  Object.fromEntries(
    SETTING_LIST.map(([name, setting]) => [name, setting.schema(SCHEMAS).optional().describe(formatHelp(setting))]),
  ) as unknown as Shape,
);

export type JobFile = z.infer<typeof jobFileSchema>;

/** The JSON Schema, for editors. */
export function jobFileJsonSchema(): SettingsSchema {
  const schema = z.toJSONSchema(jobFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const description = 'A file of US locations, and how to buy its hazard columns.';
  return { ...schema, title: 'Perilbook job file', description } as SettingsSchema;
}

/** Checked settings; usable if there are no issues. */
export interface CheckedSettings {
  readonly settings: JobFile;
  readonly issues: readonly SettingIssue[];
}

/** A name such as `${HOME}` in a setting: nothing puts the variable's value there, and a file of that name is not meant. A command of
 * `on_finish` may hold one, for its shell. */
function variableIssues(settings: object, path: readonly PropertyKey[] = []): SettingIssue[] {
  return Object.entries(settings).flatMap(([name, value]): SettingIssue[] => {
    const here = [...path, name];
    if (name === 'on_finish') return [];
    if (value instanceof Object) return variableIssues(value as object, here);
    const variable = typeof value === 'string' ? /\$\{\w+\}/.exec(value)?.[0] : undefined;
    if (variable === undefined) return [];
    const message = `${variable} is not replaced by the variable's value: give this setting as an option of the command, where the shell replaces it`;
    return [{ path: here, message }];
  });
}

/** Checks the settings of a job file, an option or a program. */
export function checkSettings(given: unknown): CheckedSettings {
  const checked = jobFileSchema.safeParse(given, { error: issueText });
  if (checked.success) return { settings: checked.data, issues: variableIssues(checked.data) };
  return { settings: {}, issues: listIssues(checked.error.issues, given, jobFileJsonSchema()) };
}
