import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JobFile } from '../../../src/job/job-file.ts';
import { type HarnessOptions, openHarness, places, type RunOptions } from '../harness.ts';

/** A job over part files in `in/`, written to `out/`. */
export async function openPartScene(t: TestContext, options: HarnessOptions = {}) {
  // A clock 200 times as fast ends calls after 0.75 s, which a busy machine may take: they are paid for and sent again.
  const harness = await openHarness(t, { factor: 20, ...options });
  const path = (...names: string[]) => join(harness.folder, ...names);
  return {
    ...harness,
    write(name: string, content: string | Buffer) {
      mkdirSync(dirname(path('in', name)), { recursive: true });
      writeFileSync(path('in', name), content);
    },
    /** Files and folders in `out/`, temporary files included. */
    outputs: () => readdirSync(path('out'), { recursive: true }).map(String).sort(),
    out: (name: string) => readFileSync(path('out', name), 'utf8'),
    runParts: (settings: JobFile = {}, runOptions: RunOptions = {}) =>
      harness.run({ input: 'in', output: 'out', topics: ['hail'], ...settings }, runOptions),
  };
}

/** A CSV text of the places from one number up to, not including, another. */
export function partOf(from: number, to: number): string {
  const rows = places(to).slice(from);
  return `id,lat,lng\n${rows.map(([lat, lng], index) => `${from + index},${lat},${lng}\n`).join('')}`;
}
