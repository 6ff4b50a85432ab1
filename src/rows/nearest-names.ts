/** Up to three of the names that a mistyped one may have meant, the nearest first. */
export function nearestNames(wanted: string, names: readonly string[]): string[] {
  const text = wanted.trim().toLowerCase();
  const limit = Math.max(2, Math.floor(text.length / 4));
  return [...new Set(names)]
    .map((name) => ({ name, edits: editsBetween(text, name.trim().toLowerCase()) }))
    .filter(({ name, edits }) => name !== '' && edits <= limit)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** Levenshtein's distance: inserted, removed and replaced characters. */
function editsBetween(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
