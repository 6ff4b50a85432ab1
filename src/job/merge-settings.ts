import { isAbsolute, join, sep } from 'node:path';
import { isOfHome, withHome } from '../base/platform-folders.ts';
import { isPostgresAddress } from '../sql/postgres-address.ts';
import type { JobFile } from './job-file.ts';

/** An object without its undefined members, which would override defined ones in a spread. */
export function definedOnly<T extends object>(
  object: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as never;
}

/** Overrides settings with stronger ones; merges `location` and `service` part by part. */
export function mergeJobFiles(weak: JobFile, strong: JobFile): JobFile {
  const merged: JobFile = { ...weak, ...definedOnly(strong) };
  if (weak.location && strong.location)
    merged.location = mergeLocations(weak.location, strong.location);
  if (typeof weak.service === 'object' && typeof strong.service === 'object') {
    const base_url = strong.service.base_url || weak.service.base_url;
    merged.service = { ...weak.service, ...strong.service, base_url };
  }
  return merged;
}

/** One column for both excludes one for each: the stronger setting wins. */
function mergeLocations(
  weak: NonNullable<JobFile['location']>,
  strong: NonNullable<JobFile['location']>,
) {
  if (strong.column !== undefined) return strong;
  const { column: _, order: __, ...columns } = weak;
  return { ...(strong.lat === undefined && strong.lng === undefined ? weak : columns), ...strong };
}

/** Resolves the path of a program; the system looks for a plain name in PATH. */
export function commandIn(
  [program = '', ...args]: readonly string[],
  resolvePath: (path: string) => string,
): string[] {
  const isPath = (name: string) => name.includes('/') || name.includes(sep);
  if (!isPath(program)) return [program, ...args];
  const resolved = resolvePath(program);
  // Joining paths drops the ./ of a program in the current folder: without it, the system would look in PATH.
  return [isPath(resolved) ? resolved : `./${resolved}`, ...args];
}

/** Resolves the paths of settings against a folder. A path in the home folder stays, for `withHomePaths`. */
export function relativeTo(folder: string, job: JobFile): JobFile {
  return withPaths(job, (path) => (isAbsolute(path) || isOfHome(path) ? path : join(folder, path)));
}

/** Puts the home folder in place of `~/` in the paths of settings. @throws USAGE */
export function withHomePaths(job: JobFile, home: string | null): JobFile {
  return withPaths(job, (path) => withHome(path, home));
}

/** The settings with each of their paths as a function gives it. */
function withPaths(job: JobFile, change: (path: string) => string): JobFile {
  const resolvePath = (path: string | undefined) =>
    path === undefined || path === '-' ? path : change(path);
  const { input } = job;
  const keysPlaced =
    typeof job.service === 'object'
      ? {
          ...job.service,
          api_keys: job.service.api_keys?.map((key) =>
            definedOnly({ ...key, file: resolvePath(key.file) }),
          ),
        }
      : job.service;
  return definedOnly({
    ...job,
    input:
      typeof input === 'string' ? resolvePath(input) : input?.map((path) => resolvePath(path)!),
    output: resolvePath(job.output),
    store:
      job.store !== undefined && isPostgresAddress(job.store) ? job.store : resolvePath(job.store),
    service: keysPlaced,
    on_finish: job.on_finish && commandIn(job.on_finish, (path) => resolvePath(path)!),
  }) as JobFile;
}
