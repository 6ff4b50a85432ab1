/* Checks the messages of new commits: `npm run check:commits`, and the gate. Commits up to BASE are older than the rule. */
import { spawnSync } from 'node:child_process';
import { problemsOf } from './commit-rules.ts';

const BASE = '5e94cfd7af1491d7496a6c176edfd0ce94d26d8d';

/** Checks the commits of the repository in a folder. @returns the lines to print, and whether all messages follow the rules */
export function checkCommits(
  folder: string,
  base = BASE,
): { readonly lines: string[]; readonly ok: boolean } {
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  if (git('rev-parse', 'HEAD').status !== 0)
    return { lines: ['Not a git repository: no commits are checked.'], ok: true };
  const hasBase = git('merge-base', '--is-ancestor', base, 'HEAD').status === 0;
  const isShallow = git('rev-parse', '--is-shallow-repository').stdout.trim() === 'true';
  if (!hasBase && !isShallow) {
    return {
      lines: [`The commit ${base.slice(0, 12)} is not in this history: no commits are checked.`],
      ok: true,
    };
  }
  const range = hasBase ? `${base}..HEAD` : 'HEAD';
  const commits = git('log', '--no-merges', '--format=%H%x00%s%x00%b%x01', range)
    .stdout.split('\u0001')
    .map((one) => one.trimStart().split('\0'))
    .flatMap(([id, subject, body]) =>
      subject === undefined ? [] : [{ id: id!, subject, body: body ?? '' }],
    );
  const wrong = commits.flatMap((commit) =>
    problemsOf(commit).map(
      (problem) => `${commit.id.slice(0, 12)} ${commit.subject}\n  ${problem}`,
    ),
  );
  const scope = hasBase ? '' : '; older ones are not in this shallow clone';
  return {
    lines: [...wrong, `${commits.length} commits checked${scope}.`],
    ok: wrong.length === 0,
  };
}

if (import.meta.main) {
  const { lines, ok } = checkCommits(process.cwd());
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = ok ? 0 : 1;
}
