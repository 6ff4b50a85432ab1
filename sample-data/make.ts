import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLand } from '../src/sample/land.ts';
import { listings } from './listings.ts';
import { oedPortfolio } from './oed-portfolio.ts';
import { smallPortfolio } from './small-portfolio.ts';

/** The sample inputs by file name; the same on every run. */
export function sampleInputs(): ReadonlyMap<string, string> {
  const land = readLand();
  return new Map([
    ['portfolio-oed.csv', oedPortfolio(land)],
    ['listings.csv', listings(land)],
    ['portfolio-small.csv', smallPortfolio(land)],
  ]);
}

/** Writes the sample inputs into a folder. */
export function writeSampleInputs(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of sampleInputs()) {
    writeFileSync(join(folder, name), text);
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  }
}

if (import.meta.main) writeSampleInputs(process.argv[2] ?? import.meta.dirname);
