import type { ObtainedSource } from '../../data/download/get-sources.ts';
import type { LoadResult } from '../../data/loaders/load-files.ts';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../format-numbers.ts';

/** The result for one source. */
export interface SourceOutcome extends ObtainedSource {
  readonly loaded?: LoadResult;
  /** States of which the publisher has no record. */
  readonly without?: readonly string[];
}

export function sourceOutcomeWords({ source, newFiles, loaded, without = [], error }: SourceOutcome): string[] {
  const lines: string[] = [];
  if (loaded !== undefined) {
    const { records, vintage, states, rejected, notes } = loaded;
    const of = states === undefined ? '' : ` of ${states.join(', ')}`;
    lines.push(`${source.name}: loaded ${counted(records, 'record')}${of}, ${vintage}.`);
    for (const { reason, count } of rejected) lines.push(`  ${counted(count, 'row')} not used: ${reason}`);
    for (const note of notes) lines.push(`  ${note}`);
  } else if (error === undefined) {
    lines.push(`${source.name}: ${newFiles === 0 ? 'unchanged' : `${counted(newFiles, 'new file')}`}.`);
  }
  if (without.length > 0) lines.push(`  The publisher has no record of ${without.join(', ')}.`);
  if (error instanceof PerilbookError) lines.push(`${source.name}: ${error.message}\n  ${error.hint} [${error.code}]`);
  return lines;
}

export function sourceOutcomesJson(outcomes: readonly SourceOutcome[]): unknown {
  return {
    sources: outcomes.map(({ source, slices, newFiles, loaded, error }) => ({
      source: source.name,
      states: slices,
      new_files: newFiles,
      ...(loaded === undefined ? {} : { records: loaded.records, vintage: loaded.vintage, rejected: loaded.rejected }),
      ...(error instanceof PerilbookError
        ? { error: { code: error.code, message: error.message, hint: error.hint } }
        : {}),
    })),
  };
}
