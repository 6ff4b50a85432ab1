import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JobFile } from '../../../src/job/job-file.ts';
import { type Harness, type HarnessOptions, openHarness, places } from '../harness.ts';

/** A job over part files in `in/`, written to `out/`. */
export interface PartScene extends Harness {
  write(name: string, content: string | Buffer): void;
  /** Files and folders in `out/`, temporary files included. */
  outputs(): string[];
  out(name: string): string;
  runParts(settings?: JobFile, options?: Parameters<Harness['run']>[1]): ReturnType<Harness['run']>;
}

export async function openPartScene(t: TestContext, options: HarnessOptions = {}): Promise<PartScene> {
  // A clock 200 times as fast ends calls after 0.75 s, which a busy machine may take: they are paid for and sent again.
  const harness = await openHarness(t, { factor: 20, ...options });
  const path = (...names: string[]) => join(harness.folder, ...names);
  return {
    ...harness,
    write(name, content) {
      mkdirSync(dirname(path('in', name)), { recursive: true });
      writeFileSync(path('in', name), content);
    },
    outputs: () => readdirSync(path('out'), { recursive: true }).map(String).sort(),
    out: (name) => readFileSync(path('out', name), 'utf8'),
    runParts: (settings = {}, runOptions = {}) =>
      harness.run({ input: 'in', output: 'out', topics: ['hail'], ...settings }, runOptions),
  };
}

/** A CSV text of the places from one number up to, not including, another. */
export function partOf(from: number, to: number): string {
  const rows = places(to).slice(from);
  return `id,lat,lng\n${rows.map(([lat, lng], index) => `${from + index},${lat},${lng}\n`).join('')}`;
}
