import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { DownloadContext } from '../../../src/data/download/download-file.ts';
import { createWebClient } from '../../../src/data/download/web-client.ts';
import { perilbook, type SetupOptions } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror } from './agency-mirror.ts';

export type Downloading = Awaited<ReturnType<typeof downloading>>;

/** A mirror, an empty folder, and what downloads from one to the other on a clock that moves by itself. */
export async function downloading(t: TestContext, silenceMs = 5_000, slowMs = 60_000) {
  const mirror = await agencyMirror(t);
  const folder = temporaryFolder(t);
  const clock = new MovedClock('2026-06-01T00:00:00Z');
  const client = createWebClient({
    userAgent: 'perilbook/0.0.0',
    env: {},
    mirror: mirror.url,
    silenceMs,
    slowMs,
  });
  t.after(() => client.close());
  const context: DownloadContext = {
    client,
    clock,
    random: () => 0.5,
    signal: new AbortController().signal,
    onBytes: () => {},
    freeBytes: () => 1e12,
  };
  return {
    mirror,
    folder,
    clock,
    context,
    /** A context of its own: another signal, another disk. */
    with: (changes: Partial<DownloadContext>) => ({ ...context, ...changes }),
    /** The text of a file in the folder; null for none. */
    read(name: string): string | null {
      const file = join(folder, name);
      return existsSync(file) ? readFileSync(file, 'utf8') : null;
    },
  };
}

/** A machine whose `data` commands download from a mirror of the agencies. */
export async function dataMachine(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  const clock = new MovedClock('2026-06-01T12:20:00Z');
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'perilbook/sources.yaml'), 'extract: true\n');
  const options = { folder, env: { XDG_DATA_HOME: folder, ...env }, clock };
  return {
    ...{ folder, mirror, options },
    run: (args: readonly string[], changes: SetupOptions = {}) =>
      perilbook(
        ['data', ...args, ...(args[0] === 'remove' ? ['--yes'] : ['--mirror', mirror.url])],
        {
          ...options,
          ...changes,
        },
      ),
    /** Runs a `data` command on a machine that has files of this one, a folder of its own, and no network. */
    onAnother: (name: string, args: readonly string[]) =>
      perilbook(['data', ...args], {
        ...{ folder, env: { XDG_DATA_HOME: join(folder, name) } },
        clock: new MovedClock('2026-07-01T00:00:00Z'),
      }),
    /** Names sources in a file, and returns the words that name the file to a command. */
    own(sources: string): readonly string[] {
      writeFileSync(join(folder, 'own.yaml'), `extract: true\n${sources}`);
      return ['--sources', 'own.yaml'];
    },
    /** What `data --json` prints. */
    list: async () => JSON.parse((await perilbook(['data', '--json'], options)).stdout),
  };
}
