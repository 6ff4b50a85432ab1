import { ADDRESS_MOVED, downloadFailed } from './download-errors.ts';

interface Link {
  readonly url: string;
  readonly year: string;
  /** YYYYMMDDHHMM from the directory listing, or the day in the name. */
  readonly day: string;
}

/**
 * The newest link of a page that matches a pattern: the greatest year (first group), then the latest day, from the directory
 * listing (`href="…">…</a> 2026-09-14 12:10`) or else from the second group (MMDDYY or MMDDYYYY).
 *
 * @throws PerilbookError DOWNLOAD_FAILED when no link fits
 */
export function newestLink(html: string, page: string, pattern: string): string {
  const links: Link[] = [];
  for (const [, quoted = '', after = ''] of html.matchAll(/href\s*=\s*["']([^"']+)["'](?=([^\n]{0,300}))/gi)) {
    const [whole, year = '', day = ''] = new RegExp(`(?:^|/)${pattern}$`).exec(quoted) ?? [];
    if (whole === undefined) continue;
    const [, listed] = /^[^<]*<\/a>\s*(?:<\/td>\s*<td[^>]*>)?\s*(\d{4}-\d{2}-\d{2} \d{2}:\d{2})/i.exec(after) ?? [];
    links.push({ url: new URL(quoted, page).href, year, day: listed?.replace(/\D/g, '') ?? dayOfName(day) });
  }
  const [newest] = links.sort((a, b) => order(b.year, a.year) || order(b.day, a.day));
  if (newest !== undefined) return newest.url;
  throw downloadFailed(`The page ${page} has no link to ${pattern.replaceAll('\\', '')}`, ADDRESS_MOVED);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** 091426 and 09142026 become 20260914; other texts stay. */
function dayOfName(text: string): string {
  const [, month, day, year] = /^(\d\d)(\d\d)((?:20)?\d\d)$/.exec(text) ?? [];
  return month === undefined ? text : `${year!.length === 2 ? `20${year}` : year}${month}${day}`;
}
