import { PerilbookError } from '../errors.ts';
import { definedOnly } from '../job/settings/defaults.ts';
import { type JobFile, jobFileSchema } from '../job/settings/job-file.ts';
import { KEY_HINT } from '../job/settings/key-shapes.ts';
import { issuesOf } from '../job/settings/setting-issues.ts';

/** Settings of a job file that a program passed; undefined ones are left out. @throws USAGE with the first error */
export function checkedSettings(settings: object): JobFile {
  const said = definedOnly(settings);
  const checked = jobFileSchema.safeParse(said);
  if (checked.success) return checked.data;
  const [{ path, message, isName }] = issuesOf(checked.error.issues, said) as [ReturnType<typeof issuesOf>[number]];
  const isSecret = path.includes('api_keys');
  const name = isName || isSecret ? path.slice(0, -1) : path;
  throw new PerilbookError(
    'USAGE',
    `${name.length === 0 ? '' : `${name.join('.')}: `}${message}`,
    isSecret ? KEY_HINT : 'Correct this setting: docs/reference/job-file.md lists them.',
  );
}
