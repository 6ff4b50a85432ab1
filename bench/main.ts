/** Runs the benchmarks that are named, or all: `node bench/main.ts [--tiny] [names…]`; tiny ones measure nothing, they show
 * that each still runs. */
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { parseArgs } from 'node:util';
import { type Goal, goalTable, isMet } from './table.ts';

/** A file of this folder that measures something. It exports `run`, which prints its own tables and returns its goals. */
interface Benchmark {
  readonly name: string;
  readonly what: string;
  /** Loads it when it is its turn: what one of them imports must not weigh on the memory of another. */
  readonly load: () => Promise<{ readonly run: () => Promise<readonly Goal[]> | readonly Goal[] }>;
}

const BENCHMARKS: readonly Benchmark[] = [
  {
    name: 'credits',
    what: 'credits spent, against two naive users',
    load: () => import('./credits.ts'),
  },
  {
    name: 'areas',
    what: 'credits with and without areas, a million locations',
    load: () => import('./areas.ts'),
  },
  {
    name: 'tracts',
    what: 'places a second whose census tract is found, against d3-geo',
    load: () => import('./tracts.ts'),
  },
  {
    name: 'zones',
    what: 'places a second whose flood zone is found, against d3-geo',
    load: () => import('./zones.ts'),
  },
  {
    name: 'throttle',
    what: 'how much of the credits a minute the throttle uses',
    load: () => import('./throttle.ts'),
  },
  {
    name: 'buy',
    what: 'processor time of a bought single, on both sides',
    load: () => import('./buy.ts'),
  },
  {
    name: 'start',
    what: 'seconds to start, of the package and of a new checkout',
    load: () => import('./start.ts'),
  },
  { name: 'rows', what: 'reading and writing CSV', load: () => import('./rows.ts') },
  {
    name: 'warm',
    what: 'a run with everything cached, against DuckDB',
    load: () => import('./warm.ts'),
  },
  {
    name: 'losses',
    what: 'what expected annual losses add to a run with everything cached',
    load: () => import('./losses.ts'),
  },
  {
    name: 'scale',
    what: 'memory of a whole run at 1 and 10 million rows',
    load: () => import('./scale.ts'),
  },
  {
    name: 'report',
    what: 'time and memory of a report of a million places',
    load: () => import('./report.ts'),
  },
  {
    name: 'parts',
    what: 'ten part files against one file of as many rows',
    load: () => import('./parts.ts'),
  },
  { name: 'layouts', what: 'shapes that the store could have', load: () => import('./layouts.ts') },
  {
    name: 'bodies',
    what: 'enterprise answers of 6 MB handled a second',
    load: () => import('./bodies.ts'),
  },
  {
    name: 'coverage',
    what: 'places a second in the US or not, against d3-geo',
    load: () => import('./coverage.ts'),
  },
  {
    name: 'lookups',
    what: 'cells planned a second, store lookups a second',
    load: () => import('./lookups.ts'),
  },
  {
    name: 'local',
    what: 'places looked up a second in local data, beside HTTP',
    load: () => import('./local.ts'),
  },
  {
    name: 'stores',
    what: 'claims, settlements and lookups a second, SQLite and PostgreSQL',
    load: () => import('./stores.ts'),
  },
  {
    name: 'loads',
    what: 'memory of loading a large agency file',
    load: () => import('./loads.ts'),
  },
  { name: 'service', what: 'answers a second of the service', load: () => import('./service.ts') },
  {
    name: 'instances',
    what: 'answers a second of several instances',
    load: () => import('./instances.ts'),
  },
];

const goals: (readonly [benchmark: string, goal: Goal])[] = [];

const { values, positionals: names } = parseArgs({
  options: { tiny: { type: 'boolean' } },
  allowPositionals: true,
});
if (values.tiny) process.env.BENCH_SIZE = 'tiny';
const unknown = names.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are:`);
  for (const { name, what } of BENCHMARKS) console.error(`  ${name.padEnd(10)} ${what}`);
  process.exitCode = 2;
} else {
  console.log(machine());
  for (const benchmark of BENCHMARKS) {
    if (names.length === 0 || names.includes(benchmark.name)) await measure(benchmark);
  }
  if (goals.length > 0) printGoals();
}

async function measure({ name, what, load }: Benchmark): Promise<void> {
  console.log(`\n## ${name}: ${what}\n`);
  const begun = performance.now();
  try {
    for (const goal of await (await load()).run()) goals.push([name, goal]);
    console.log(`\n(${name} took ${Math.round((performance.now() - begun) / 1_000)} s)`);
  } catch (error) {
    // The others are still worth their figures; the exit code tells.
    console.error(`${name} failed:`, error);
    process.exitCode = 1;
  }
}

/** A goal that falls short is a finding, not a failure: the exit code stays 0. */
function printGoals(): void {
  console.log(`\n# Goals\n\n${goalTable(goals)}\n`);
  const short = goals.filter(([, goal]) => !isMet(goal));
  if (short.length === 0) console.log(`All ${goals.length} goals are met.`);
  else console.log(`${short.length} of ${goals.length} goals fall short:`);
  for (const [benchmark, { what }] of short) console.log(`  ${benchmark}: ${what}`);
}

function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const processor = cpus()[0]?.model.trim() || 'unknown processor';
  const system = `${type()} ${release()}, Node ${process.version}`;
  // Figures that were taken while others used the machine are worth less, and the reader must be able to see that.
  const busy = `load ${loadavg()[0]!.toFixed(1)} before the start`;
  return `${availableParallelism()} cores (${processor}), ${memory} GB memory, ${system}, ${busy}`;
}
