/** The known names that a misspelt one may mean, nearest first, at most three. At most a third of the letters differ (two of four or
 * five, where the first one is the same), and at most one more than in the nearest; case and surrounding spaces are ignored. */
export function nearestNames(misspelt: string, names: readonly string[]): string[] {
  const wanted = misspelt.trim().toLowerCase();
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const isShort = wanted.length > 3 && wanted.length < 6;
  return [...new Set(names)]
    .map((name) => ({ name, text: name.trim().toLowerCase() }))
    .map(({ name, text }) => ({ name, text, distance: editDistance(wanted, text) }))
    .filter(
      ({ text, distance }) =>
        text !== '' && distance <= (isShort && text[0] === wanted[0] ? 2 : most),
    )
    .sort((a, b) => a.distance - b.distance)
    .filter(({ distance }, _, [nearest]) => distance <= nearest!.distance + 1)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** The first of the names that `nearestNames` finds; null for none. */
export function nearestName(misspelt: string, names: readonly string[]): string | null {
  return nearestNames(misspelt, names)[0] ?? null;
}

/** `; did you mean X?`, to append to a message about an unknown name; '' if none is near. */
export function didYouMean(misspelt: string, names: readonly string[]): string {
  const near = nearestName(misspelt, names);
  return near === null ? '' : `; did you mean ${near}?`;
}

/** Insertions, deletions, substitutions and transpositions of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const above = rows[i - 1]!;
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (exchanged) row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
