import { resultOrNull } from '../../base/errors.ts';
import type { FeatureText } from './collection-features.ts';

/** The separator before each record of a sequence (RFC 8142). */
const RECORD_SEPARATOR = '\u001e';

/** Whether a text begins with a whole feature on its first line: newline-delimited GeoJSON. */
export function beginsWithFeature(text: string): boolean {
  const [line = ''] = unmarked(text).trimStart().split('\n');
  // A whole collection on one line may be long.
  if (!/^\{/.test(line) || /"features"\s*:\s*\[/.test(line)) return false;
  const value = resultOrNull(() => JSON.parse(line) as { readonly type?: unknown });
  return value?.type === 'Feature';
}

/** The features of newline-delimited GeoJSON, a line each; empty lines are left out. They are not parsed. */
export async function* featureLines(
  blocks: AsyncIterable<Buffer>,
): AsyncGenerator<readonly FeatureText[], void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  let line = 0;
  const read = (lines: readonly string[]): FeatureText[] =>
    lines.flatMap((text) => {
      line += 1;
      const json = unmarked(text).trim();
      return json === '' ? [] : [{ json, line }];
    });
  for await (const block of blocks) {
    const lines = (rest + decoder.decode(block, { stream: true })).split('\n');
    rest = lines.pop()!;
    const features = read(lines);
    if (features.length > 0) yield features;
  }
  const last = read([rest + decoder.decode()]);
  if (last.length > 0) yield last;
}

const unmarked = (text: string): string => text.replaceAll(RECORD_SEPARATOR, '');
