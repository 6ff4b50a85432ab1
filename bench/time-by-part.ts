import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';

/** A part of the program, and what the addresses of its modules contain. */
export type Part = readonly [name: string, pattern: RegExp];

/**
 * Does some work and tells how the time of the main thread was divided, by V8's profiler. A sample counts for the first part that
 * has a function in its stack, the innermost function first; what no part has is `other`. Idle time is left out; waiting for
 * the disk is not.
 */
export async function timeByPart(
  parts: readonly Part[],
  work: () => Promise<void>,
): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return divided(profile, parts);
}

function divided(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  parts: readonly Part[],
): Map<string, number> {
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const partOf = (node: number): string | null => {
    for (let at: number | undefined = node; at !== undefined; at = parents.get(at)) {
      const { url, functionName } = frames.get(at)!;
      if (functionName === '(idle)') return null;
      const part = parts.find(([, pattern]) => pattern.test(url));
      if (part !== undefined) return part[0];
    }
    return 'other';
  };
  const microseconds = new Map<string, number>();
  for (const [index, node] of samples.entries()) {
    const part = partOf(node);
    if (part !== null)
      microseconds.set(part, (microseconds.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return microseconds;
}
