import { PerilbookError } from '../../base/errors.ts';
import { byteSize, counted, isoDay, timeSpan } from '../../base/format-numbers.ts';
import { type ShownAddress, shownAddress } from '../../base/shown-address.ts';
import { isBuiltIn, topicOf } from '../../contract/topics.ts';
import type { ObtainedSource, WantedSource } from '../../data/download/get-sources.ts';
import type { TransferProgress } from '../../data/download/transfer-rate.ts';
import type { LoadResult } from '../../data/loaders/load-files.ts';
import type { Source } from '../../data/sources/source.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { DataGetJson, DownloadPlanJson } from '../json/data-json.ts';
import { type Color, hintLine, table } from './format.ts';

/** A state of unknown size is estimated as a 51st of the US. */
const STATES = 51;

/** The estimated size of a download, in bytes, without files at the user's own addresses. */
export function estimatedBytes(wanted: readonly WantedSource[]): number {
  return wanted.reduce((sum, entry) => sum + (sumBytes(entry) ?? 0), 0);
}

/** `about 1.2 GB`, `an unknown size`, `about 1.2 GB and 2 sources of unknown size` */
export function sizeOfAll(wanted: readonly WantedSource[]): string {
  const unknown = wanted.filter((entry) => sumBytes(entry) === null).length;
  if (unknown === wanted.length) return 'an unknown size';
  const rest = unknown === 0 ? '' : ` and ${counted(unknown, 'source')} of unknown size`;
  return `about ${byteSize(estimatedBytes(wanted))}${rest}`;
}

function sumBytes({ source, slices, tiles }: WantedSource): number | null {
  if (source.isElsewhere) return null;
  if (slices.includes('US')) return source.bytes;
  const sizes = slices.map((state) => {
    const whole = source.stateBytes?.[state] ?? source.bytes / STATES;
    const own = tiles?.get(state);
    return own === undefined ? whole : Math.min(whole, bytesOfTiles(own, source));
  });
  const all = sizes.reduce((sum, size) => sum + size, 0);
  return Math.min(source.bytes, all);
}

/** The US has some 1,000 square degrees; more lies where locations are. */
const US_SQUARE_DEGREES = 1_000;
const DENSER = 4;
/** Outlines that reach beyond their tile. */
const BYTES_BESIDES = 1_000_000;

function bytesOfTiles(tiles: readonly Box[], { bytes }: Source): number {
  const degrees = tiles.reduce(
    (sum, box) => sum + (box.maxLng - box.minLng) * (box.maxLat - box.minLat),
    0,
  );
  return (bytes * DENSER * degrees) / US_SQUARE_DEGREES + tiles.length * BYTES_BESIDES;
}

/** `US`, `3 states`, `12 tiles` */
function partsText({ slices, tiles }: WantedSource): string {
  if (slices.includes('US')) return 'US';
  if (tiles === undefined) return counted(slices.length, 'state');
  const count = slices.reduce((sum, state) => sum + (tiles.get(state)?.length ?? 0), 0);
  return counted(count, 'tile');
}

/** Sizes, addresses and licences, shown before a download. @param mirror where the addresses are asked instead, an address or a folder */
export function downloadPlanMessages(
  wanted: readonly WantedSource[],
  states: readonly string[] | null,
  mirror?: string,
): string[] {
  const sizeOf = ({ source, slices }: WantedSource, bytes: number | null) =>
    bytes === null
      ? 'unknown'
      : `${source.isMeasured && slices.includes('US') ? '' : 'about '}${byteSize(bytes)}`;
  const rows = wanted.map((entry) => [
    entry.source.name,
    sizeOf(entry, sumBytes(entry)),
    partsText(entry),
    entry.source.cadence,
    addressesOf(entry).join(' '),
  ]);
  const all = wanted.some(({ source }) => source.isElsewhere)
    ? 'Except for your own addresses, all'
    : 'All';
  return [
    ...(states === null ? [] : [`States: ${states.join(', ')}`]),
    ...table(['source', 'size', 'states', 'changes', 'from'], rows, ''),
    `In all ${sizeOfAll(wanted)}.`,
    ...(mirror === undefined
      ? []
      : [`${all} is taken from ${mirror}; the sizes are those of the publishers' files.`]),
    ...bySentence(wanted, ({ note }) => note),
    ...bySentence(wanted, licenceOf).map((line) => `Licence of ${line}`),
  ];
}

/** `areas, counties: sentence`, once per sentence. */
function bySentence(
  wanted: readonly WantedSource[],
  sentenceOf: (source: Source) => string | undefined,
): string[] {
  const names = new Map<string, string[]>();
  for (const { source } of wanted) {
    const sentence = sentenceOf(source);
    if (sentence !== undefined) names.set(sentence, [...(names.get(sentence) ?? []), source.name]);
  }
  return [...names].map(([sentence, of]) => `${of.join(', ')}: ${sentence}`);
}

/** What `data get --dry-run --json` prints. */
export function downloadPlanJson(
  wanted: readonly WantedSource[],
  states: readonly string[] | null,
): DownloadPlanJson {
  return {
    states,
    bytes: Math.round(estimatedBytes(wanted)),
    sources: wanted.map(({ source, slices, tiles }) => ({
      source: source.name,
      title: source.title,
      states: slices,
      bytes: source.isElsewhere
        ? null
        : Math.round(sumBytes({ source, slices, ...(tiles && { tiles }) })!),
      measured: source.isMeasured && !source.isElsewhere && slices.includes('US'),
      cadence: source.cadence,
      addresses: addressesOf({ source, slices }),
      licence: licenceOf(source),
      note: source.note,
    })),
  };
}

/** Works of US agencies are in the public domain (17 USC 105); of a layer of a user's own that is not known. */
function licenceOf({ licence, topics }: Source): string {
  const isDescribed = topics.some((topic) => !isBuiltIn(topicOf(topic)));
  return (
    licence ??
    (isDescribed
      ? 'its description states none.'
      : 'a work of the US government, in the public domain.')
  );
}

function addressesOf(wanted: WantedSource): ShownAddress[] {
  return askedAddresses(wanted).map(shownAddress);
}

function askedAddresses({ source: { download }, slices }: WantedSource): readonly string[] {
  switch (download.kind) {
    case 'file':
      return download.files.map(({ url, stateUrl = url }) =>
        slices.includes('US') ? url : stateUrl,
      );
    case 'linked':
      return [download.page];
    case 'layer':
      return typeof download.layer === 'string' ? [download.layer] : Object.values(download.layer);
    case 'spans':
      return [download.url.replace(/\?.*/, '')];
  }
}

/** 12.3 MB of about 180 MB, 2.1 MB/s, 2 minutes left */
export function transferMessage({
  bytes,
  totalBytes,
  bytesPerSecond,
  secondsLeft,
}: TransferProgress): string {
  const left = secondsLeft === null ? '' : `, ${timeSpan(secondsLeft / 60)} left`;
  const total = totalBytes === null ? '' : ` of about ${byteSize(totalBytes)}`;
  return `${byteSize(bytes)}${total}, ${byteSize(bytesPerSecond)}/s${left}`;
}

export interface SourceOutcome extends ObtainedSource {
  readonly loaded?: LoadResult;
  /** States of which the publisher has no record. */
  readonly without?: readonly string[];
}

/** What came of a source, but an error. */
export function sourceOutcomeMessages({
  source,
  newFiles,
  againAt,
  loaded,
  without = [],
  error,
}: SourceOutcome): string[] {
  const lines: string[] = [];
  if (loaded !== undefined) {
    const { records, vintage, states, rejected, notes } = loaded;
    const of = states === undefined ? '' : ` of ${states.join(', ')}`;
    const age = vintage === '' ? '' : `, ${vintage}`;
    lines.push(`${source.name}: loaded ${counted(records, 'record')}${of}${age}.`);
    for (const { reason, count } of rejected)
      lines.push(`  ${counted(count, 'row')} not used: ${reason}`);
    for (const note of notes) lines.push(`  ${note}`);
  } else if (error === undefined) {
    const state = newFiles > 0 ? counted(newFiles, 'new file') : 'unchanged';
    const unsure =
      newFiles > 0 || againAt === undefined
        ? ''
        : ` by ${comparedBy(source)}; the layer has no edit date, and is loaded again on ${isoDay(againAt)}`;
    lines.push(`${source.name}: ${state}${unsure}.`);
  }
  if (without.length > 0) lines.push(`  The publisher has no record of ${without.join(', ')}.`);
  return lines;
}

/** Why a source was not obtained or loaded, in part or whole, and what to do. */
export function sourceErrorMessage(
  { source, loaded }: SourceOutcome,
  error: PerilbookError,
  color: Color,
): string {
  const rest =
    loaded !== undefined && error.code === 'SERVICE_DATA'
      ? 'the stored data of other states stays. '
      : '';
  return `${source.name}: ${rest}${error.message}\n${hintLine(error, color)}`;
}

const comparedBy = ({ download }: Source): string =>
  download.kind === 'layer' && download.fields !== undefined
    ? 'its ids and codes'
    : 'its ids alone, so that cannot be told';

/** What `data get` and `data update` print with `--json`. */
export function sourceOutcomesJson(outcomes: readonly SourceOutcome[]): DataGetJson {
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
