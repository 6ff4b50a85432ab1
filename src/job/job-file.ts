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

/** Checks the settings of a job file, an option or a program. */
export function checkSettings(given: unknown): CheckedSettings {
  const checked = jobFileSchema.safeParse(given, { error: issueText });
  if (checked.success) return { settings: checked.data, issues: [] };
  return { settings: {}, issues: listIssues(checked.error.issues, given, jobFileJsonSchema()) };
}
