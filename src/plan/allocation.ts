/** Which tier each cell gets: 0 for none, then 1 for the leanest. */
export interface Allocation {
  /** By the cell's number. */
  readonly tiers: Uint8Array;
  readonly credits: number;
}

/**
 * Spends credits on cells: every cell first gets the leanest tier, then cells are upgraded, tier by tier, always in the
 * order given, as long as the credits suffice. A cell that costs more than what is left is skipped, and cheaper ones after it
 * still get theirs.
 *
 * Tiers are nested, so a richer one never costs less. The result is therefore the best by the job's own measure: written as
 * one word (leanest tier of each cell in order, then the next tier of each, …), no other affordable allocation comes before it.
 *
 * @param order the cells' numbers, the most valuable first
 * @param size the number of all cells (numbers are below it)
 * @param price what a cell costs in a tier (1 is the leanest), in credits; 0 for what it has already
 */
export function allocate(
  order: Iterable<number>,
  size: number,
  tierCount: number,
  price: (cell: number, tier: number) => number,
  available: number,
): Allocation {
  const tiers = new Uint8Array(size);
  let left = available;
  for (let tier = 1; tier <= tierCount; tier++) {
    for (const cell of order) {
      if (tiers[cell] !== tier - 1) continue;
      const more = price(cell, tier) - (tier === 1 ? 0 : price(cell, tier - 1));
      if (more > left) continue;
      tiers[cell] = tier;
      left -= more;
    }
  }
  return { tiers, credits: available - left };
}
