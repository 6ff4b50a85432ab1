/** A stream of numbers in [0, 1). */
export type Random = () => number;

/** The random numbers of a seed and a name, so that a dataset's records never depend on which others were generated before. The generator
 * is sfc32 by Chris Doty-Humphrey (PractRand, public domain), as collected in https://github.com/bryc/code/blob/master/jshash/PRNGs.md. */
export function makeRandom(seed: number, name: string): Random {
  let a = fnv1a(`${seed}/${name}/a`);
  let b = fnv1a(`${seed}/${name}/b`);
  let c = fnv1a(`${seed}/${name}/c`);
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  // As in the author's seeding: the first rounds of similar seeds are similar, so they are discarded.
  for (let round = 0; round < 15; round += 1) next();
  return next;
}

/** A number in [low, high). */
export function drawBetween(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

/** A whole number from `low` to `high`, both included. */
export function drawWhole(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** Draws one of some items, each as likely as another. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** A normally distributed number, standard deviation 1 (Box-Muller). */
export function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0;
}
