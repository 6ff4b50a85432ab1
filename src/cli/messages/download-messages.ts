import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import type { ObtainedSource, WantedSource } from '../../data/download/get-sources.ts';
import type { TransferProgress } from '../../data/download/transfer-rate.ts';
import type { LoadResult } from '../../data/loaders/load-files.ts';
import type { Source } from '../../data/sources/source.ts';
import { byteSize, table, timeSpan } from './format.ts';

/** A state of unknown size is estimated as a 51st of the US. */
const STATES = 51;

/** The estimated size of a download, in bytes. */
export function estimatedBytes(wanted: readonly WantedSource[]): number {
  return wanted.reduce((sum, entry) => sum + sumBytes(entry), 0);
}

function sumBytes({ source, slices }: WantedSource): number {
  if (slices.includes('US')) return source.bytes;
  const sizes = slices.map((state) => source.stateBytes?.[state] ?? source.bytes / STATES);
  return Math.min(
    source.bytes,
    sizes.reduce((sum, size) => sum + size, 0),
  );
}

/** Sizes, addresses and licences, shown before a download. */
export function downloadPlanMessages(wanted: readonly WantedSource[], states: readonly string[] | null): string[] {
  const rows = wanted.map((entry) => [
    entry.source.name,
    `${entry.source.isMeasured && entry.slices.includes('US') ? '' : 'about '}${byteSize(sumBytes(entry))}`,
    entry.slices.includes('US') ? 'US' : counted(entry.slices.length, 'state'),
    entry.source.cadence,
    addressesOf(entry.source).join(' '),
  ]);
  return [
    ...(states === null ? [] : [`States: ${states.join(', ')}`]),
    ...table(['source', 'size', 'of', 'changes', 'from'], rows, ''),
    `In all about ${byteSize(estimatedBytes(wanted))}.`,
    ...bySentence(wanted, ({ note }) => note),
    ...bySentence(wanted, licenceOf).map((line) => `Licence of ${line}`),
  ];
}

/** `areas, counties: sentence`, once per sentence. */
function bySentence(wanted: readonly WantedSource[], sentenceOf: (source: Source) => string | undefined): string[] {
  const names = new Map<string, string[]>();
  for (const { source } of wanted) {
    const sentence = sentenceOf(source);
    if (sentence !== undefined) names.set(sentence, [...(names.get(sentence) ?? []), source.name]);
  }
  return [...names].map(([sentence, of]) => `${of.join(', ')}: ${sentence}`);
}

export function downloadPlanJson(wanted: readonly WantedSource[], states: readonly string[] | null): unknown {
  return {
    states,
    bytes: Math.round(estimatedBytes(wanted)),
    sources: wanted.map((entry) => ({
      source: entry.source.name,
      title: entry.source.title,
      states: entry.slices,
      bytes: Math.round(sumBytes(entry)),
      measured: entry.source.isMeasured && entry.slices.includes('US'),
      cadence: entry.source.cadence,
      addresses: addressesOf(entry.source),
      licence: licenceOf(entry.source),
      note: entry.source.note,
    })),
  };
}

/** Works of US agencies are in the public domain (17 USC 105). */
function licenceOf({ licence }: Source): string {
  return licence ?? 'a work of the US government, in the public domain.';
}

function addressesOf({ download }: Source): string[] {
  switch (download.kind) {
    case 'file':
      return download.files.map(({ url }) => url);
    case 'linked':
      return [download.page];
    case 'layer':
      return typeof download.layer === 'string' ? [download.layer] : Object.values(download.layer);
    case 'spans':
      return [download.url.replace(/\?.*/, '')];
  }
}

/** 12.3 MB of about 180 MB, 2.1 MB/s, 2 minutes left */
export function transferMessage({ bytes, totalBytes, bytesPerSecond, secondsLeft }: TransferProgress): string {
  const left = secondsLeft === null ? '' : `, ${timeSpan(secondsLeft / 60)} left`;
  return `${byteSize(bytes)} of about ${byteSize(totalBytes)}, ${byteSize(bytesPerSecond)}/s${left}`;
}

/** The result for one source. */
export interface SourceOutcome extends ObtainedSource {
  readonly loaded?: LoadResult;
  /** States of which the publisher has no record. */
  readonly without?: readonly string[];
}

export function sourceOutcomeMessages({ source, newFiles, loaded, without = [], error }: SourceOutcome): string[] {
  const lines: string[] = [];
  if (loaded !== undefined) {
    const { records, vintage, states, rejected, notes } = loaded;
    const of = states === undefined ? '' : ` of ${states.join(', ')}`;
    const age = vintage === '' ? '' : `, ${vintage}`;
    lines.push(`${source.name}: loaded ${counted(records, 'record')}${of}${age}.`);
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
      records: loaded?.records,
      vintage: loaded?.vintage,
      rejected: loaded?.rejected,
      ...(error instanceof PerilbookError
        ? { error: { code: error.code, message: error.message, hint: error.hint } }
        : {}),
    })),
  };
}
