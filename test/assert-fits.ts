import assert from 'node:assert/strict';

/** Whether a text that a case expects is a pattern: it stands between slashes, with flags behind them. */
const PATTERN = /^\/(.*)\/([im]*)$/s;

/** What a case found is what it expects: a text between slashes is a pattern, `{least, most}` are bounds, and of a map its named members count. */
export function assertFits(found: unknown, expected: unknown, path: string): void {
  const pattern = typeof expected === 'string' ? PATTERN.exec(expected) : null;
  if (pattern) {
    assert.match(String(found), new RegExp(pattern[1]!, `s${pattern[2]}`), path);
  } else if (Array.isArray(expected)) {
    assert.equal(
      (found as unknown[] | undefined)?.length,
      expected.length,
      `${path}: ${JSON.stringify(found)}`,
    );
    for (const [index, value] of expected.entries())
      assertFits((found as unknown[])[index], value, `${path}.${index}`);
  } else if (typeof expected === 'object' && expected !== null) {
    const { least, most, ...members } = expected as Record<string, unknown>;
    if (typeof least === 'number')
      assert.ok((found as number) >= least, `${path}: ${found} is less than ${least}`);
    if (typeof most === 'number')
      assert.ok((found as number) <= most, `${path}: ${found} is more than ${most}`);
    for (const [name, value] of Object.entries(members)) {
      assertFits((found as Record<string, unknown> | null)?.[name], value, `${path}.${name}`);
    }
  } else assert.deepEqual(found, expected, path);
}

/** A case with the members of a row of its table in the places of their names. */
export function filledIn<Case>(whole: Case, row: Readonly<Record<string, unknown>>): Case {
  let text = JSON.stringify(whole);
  for (const [name, value] of Object.entries(row)) {
    const quoted = JSON.stringify(value);
    text = text
      .replaceAll(`"$${name}"`, quoted)
      .replaceAll(`$${name}`, JSON.stringify(String(value)).slice(1, -1));
  }
  return JSON.parse(text);
}
