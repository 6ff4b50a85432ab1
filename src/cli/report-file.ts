import { resolve } from 'node:path';
import { openOutput, writeWhole } from '../rows/files/output-file.ts';
import { knownOutput, type Output } from '../run/protected-files.ts';
import type { Flags } from './command.ts';
import type { CliContext } from './context.ts';

/** The file that `--report` names, from the working folder; null if it is not given. */
export function reportFile(context: CliContext, flags: Flags): string | null {
  const said = flags.report as string | undefined;
  return said === undefined || said === '-' ? (said ?? null) : resolve(context.workingFolder, said);
}

export function reportOutput(file: string): Output {
  return knownOutput(file, 'the report', /<meta name="generator" content="Perilbook">/);
}

/** Writes the page whole or not at all. @throws OUTPUT_UNWRITABLE */
export async function writeReport(context: CliContext, file: string, page: string): Promise<void> {
  const output = await openOutput(file, null, context.stdout);
  await writeWhole(output, undefined, () => output.write(Buffer.from(page)));
}
