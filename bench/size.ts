import { copySampleDatabase, makeSampleDatabase as makeDatabase } from '../test/sample-database.ts';

/** Whether the benchmarks only show that they run (`node bench/main.ts --tiny`, as the tests do): their figures then mean
 * nothing. In the environment, so that processes which a benchmark starts know it too. */
const isTiny = process.env.BENCH_SIZE === 'tiny';

/** A size of a benchmark: the one to measure with, or the tiny one. */
export function sized<T>(full: T, tiny: T): T {
  return isTiny ? tiny : full;
}

/** Makes the service's database with sample data, or copies one that was made before. Returns what that took, in seconds. */
export function makeSampleDatabase(file: string): number {
  const begun = performance.now();
  if (isTiny) copySampleDatabase(file);
  else makeDatabase(file);
  return (performance.now() - begun) / 1_000;
}
