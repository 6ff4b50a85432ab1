/**
 * The long versions of what `npm test` proves in short, with seeds of the day: `npm run soak`, or `npm run soak -- kills many`
 * for parts of it. SOAK_SEED repeats an earlier one; SOAK_KILLS says how many kills, SOAK_CELLS of how many cells the long job
 * is, SOAK_MINUTES how long the last part buys at full rate (60).
 */
import { table } from '../../bench/table.ts';
import {
  soakClocks,
  soakFuzz,
  soakHostile,
  soakHour,
  soakKills,
  soakLongJob,
  soakMany,
  soakPower,
  soakSignals,
} from './soak-parts.ts';

/** What a part tried and found. */
export interface Soaked {
  readonly promise: string;
  readonly trials: string;
  readonly figures: string;
  /** What was wrong, with the seed that shows it again. */
  readonly found: readonly string[];
}

const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);

const PARTS: Readonly<Record<string, () => Promise<Soaked>>> = {
  kills: () => soakKills(seed, Number(process.env.SOAK_KILLS ?? 200)),
  signals: () => soakSignals(seed, 10),
  power: () => soakPower(seed, 20),
  many: () => soakMany(seed, 6),
  clocks: () => soakClocks(seed, 10),
  long: () => soakLongJob(Number(process.env.SOAK_CELLS ?? 100_000)),
  hour: () => soakHour(Number(process.env.SOAK_MINUTES ?? 60)),
  fuzz: () => soakFuzz(Number(process.env.SOAK_FUZZ ?? 8_000)),
  hostile: () => soakHostile(seed, Number(process.env.SOAK_HOSTILE ?? 200)),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}
process.stderr.write(`seed ${seed}\n`);
const rows: (readonly string[])[] = [];
const found: string[] = [];
for (const [name, soak] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = performance.now();
  const part = await soak();
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  rows.push([
    part.promise,
    part.trials,
    part.figures,
    part.found.length === 0 ? 'nothing' : `${part.found.length}`,
    minutes,
  ]);
  found.push(...part.found.map((what) => `${name}: ${what}`));
}
process.stdout.write(`${table(['promise', 'trials', 'figures', 'found', 'minutes'], rows)}\n`);
for (const what of found) process.stdout.write(`${what}\n`);
process.exitCode = found.length === 0 ? 0 : 1;
