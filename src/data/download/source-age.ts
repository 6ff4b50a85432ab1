import { isoDay } from '../../base/format-numbers.ts';
import type { Source } from '../sources/source.ts';
import type { Manifest } from './downloads-folder.ts';
import type { ProbedSource } from './probe-source.ts';

const DAY_MS = 86_400_000;

/** Why a source counts as old, one sentence each; empty if it does not. */
export function ageWarnings(
  source: Source,
  probed: readonly ProbedSource[],
  manifest: Manifest,
  now: number,
): string[] {
  const { name, oldAfterDays, cadence } = source;
  const published = probed.map(({ changedAt, url }) => {
    const year = yearIn(source, url);
    // The data of a year is complete at its end.
    return changedAt ?? (year === null ? null : Date.UTC(year, 11, 31));
  });
  // The day on which a server changed a file is not that of its data.
  const isChange = probed.some(({ changedAt }) => changedAt !== undefined);
  const newest = published.includes(null) ? null : Math.max(...(published as number[]));
  const isOld = oldAfterDays !== undefined && newest !== null && newest < now - oldAfterDays * DAY_MS;
  return [
    ...(isOld
      ? [`its ${isChange ? 'last change' : 'newest data'} is of ${isoDay(newest)}, and it is published ${cadence}`]
      : []),
    ...(isOutdated(source, probed, manifest, now)
      ? [`newer data is published: run perilbook data update ${name}`]
      : []),
  ];
}

/** Whether newer data is published than was downloaded. At the same address the dates are compared, at different ones the years. */
function isOutdated(source: Source, probed: readonly ProbedSource[], manifest: Manifest, now: number): boolean {
  if (source.isNearRealTime) return false;
  return [...manifest.values()].some(({ url, edited, lastModified }) => {
    const here = edited ?? Date.parse(lastModified ?? '');
    const year = yearIn(source, url);
    return probed.some((probe) => {
      const isSame = source.download.kind === 'layer' ? url.startsWith(probe.url) : url === probe.url;
      if (isSame) return probe.changedAt !== undefined && here < probe.changedAt;
      const published = yearIn(source, probe.url);
      if (published !== null && now < wholeFrom(source, published)) return false;
      return year !== null && published !== null && year < published;
    });
  });
}

/** When a published year is complete: in June of the next year, for sources that publish it earlier. */
function wholeFrom({ download }: Source, year: number): number {
  return download.kind === 'file' && download.isWholeYear !== undefined ? Date.UTC(year + 1, 5) : 0;
}

/** The year of the data in an address of a source, or null. */
export function yearIn({ download }: Source, url: string): number | null {
  const patterns =
    download.kind === 'file'
      ? download.files.flatMap((file) => [file.url, file.stateUrl ?? []].flat()).map(makePattern)
      : download.kind === 'linked'
        ? download.links.map((link) => new RegExp(`(?:^|/)${link}$`))
        : [];
  const [year] = patterns.flatMap((pattern) => pattern.exec(url)?.[1] ?? []);
  return year === undefined ? null : Number(year);
}

/** The pattern of an address, with {year} as its first group. */
function makePattern(address: string): RegExp {
  const [before = '', ...after] = address
    .split('{year}')
    .map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+'));
  return new RegExp(`^${[before, ...after].join('(\\d{4})')}$`);
}
