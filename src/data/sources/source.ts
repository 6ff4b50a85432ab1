import type { TopicSlug } from '../../contract/topics.ts';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { LoaderName } from '../loaders/loader-table.ts';
import { TERRITORIES } from '../tables/states.ts';

/* Descriptions of the agencies' publications. Placeholders in addresses: {year}, {hour} (YYYYMMDDHH, UTC), {date} (its day), {fips} (51), {state} (VA),
 * {st} (va), {name} (Virginia), {postalState} (US-VA), {slice} (US or VA). */

interface FileAddress {
  readonly url: string;
  readonly stateUrl?: string;
  /** The local file name, if the address does not end in one; may contain placeholders. */
  readonly name?: string;
  /** The file is the loader's option `sites` (AirNow's list of monitors). */
  readonly as?: 'sites';
}

export interface FileDownload {
  readonly kind: 'file';
  readonly files: readonly FileAddress[];
  /** The values of {year}: from `newest` years before the current one back to `oldest`. */
  readonly years?: { readonly newest: number; readonly oldest: number };
  /** Whether a file of a {year} covers the whole year; if not, the previous year is taken. */
  readonly isWholeYear?: (file: string) => Promise<boolean>;
  /** How many hours back {hour} may be: the current hour is published late. */
  readonly hours?: number;
  readonly keyHeader?: string;
}

/** Files whose names change; a page links to them. */
export interface LinkedDownload {
  readonly kind: 'linked';
  readonly page: string;
  /** One regular expression per file; its first group is the year of the newest data, the second the day of the file. */
  readonly links: readonly string[];
  /** Further files, where the page links to them. */
  readonly more?: readonly string[];
}

/** An ArcGIS layer, read page by page. */
export interface LayerDownload {
  readonly kind: 'layer';
  /** The layer's address, or one for each state that has one. */
  readonly layer: string | Readonly<Record<string, string>>;
  /** The filter; `{thisYear}` is the first day of the current year. */
  readonly where?: string | undefined;
  /** The filter for one state; `box` if the layer has no column of the state. */
  readonly stateWhere?: string | 'box';
  /** The field that names what the publisher withdraws or replaces by itself, as records keep it: a study. */
  readonly unit?: string;
  /** For `--for`, which asks only for the tiles that hold a location: how far beyond a tile the topic looks, in metres. */
  readonly aroundPlaces?: number;
  /** Attributes as CSV; default: features as GeoJSON. */
  readonly as?: 'csv';
  /** A regular expression for the required fields; default: all fields. */
  readonly fields?: string | undefined;
  /** The largest simplification of outlines, in degrees. */
  readonly simplifiedBy?: number | undefined;
  /** Layers whose features the loader needs beside these, with the same filters unless they have their own. */
  readonly more?:
    | readonly Pick<
        LayerDownload & { readonly layer: string },
        'layer' | 'where' | 'fields' | 'simplifiedBy' | 'pageRows'
      >[]
    | undefined;
  /** Rows per page, if the layer's own limit is too high for large outlines. */
  readonly pageRows?: number | undefined;
}

/** A query with a limited number of results: each span of time is counted first and halved while it has too many. */
export interface SpanDownload {
  readonly kind: 'spans';
  /** With {from}, {to}, {minlat}, {maxlat}, {minlng} and {maxlng}. */
  readonly url: string;
  readonly countUrl: string;
  readonly mostRows: number;
  readonly boxes: Readonly<Record<string, Box>>;
}

export type SourceDownload = FileDownload | LinkedDownload | LayerDownload | SpanDownload;

/** Whether a source has a state; some layers cover only a few. */
export function isPublishedFor(download: SourceDownload, state: string): boolean {
  return (
    download.kind !== 'layer' ||
    typeof download.layer === 'string' ||
    download.layer[state] !== undefined
  );
}

/** A file at one address, files that a page links to, an ArcGIS layer. */
export function fileAt(url: string, rest: Omit<FileAddress, 'url'> = {}): FileDownload {
  return { kind: 'file', files: [{ url, ...rest }] };
}
/** Files that a page links to. @param links patterns of their addresses */
export function linkedAt(page: string, ...links: string[]): LinkedDownload {
  return { kind: 'linked', page, links };
}
/** A layer of ArcGIS. @param layer its address, or one for each state */
export function layerAt(
  layer: LayerDownload['layer'],
  rest: Omit<LayerDownload, 'kind' | 'layer'> = {},
): LayerDownload {
  return { kind: 'layer', layer, ...rest };
}

/** How often the agency publishes, and the two ages in days: see `Source`. */
export function published(
  cadence: string,
  staleAfterDays: number,
  oldAfterDays?: number,
): Pick<Source, 'cadence' | 'staleAfterDays' | 'oldAfterDays'> {
  return { cadence, staleAfterDays, ...(oldAfterDays !== undefined && { oldAfterDays }) };
}

/** A second address with data of the same meaning. */
export interface OtherAddress
  extends Partial<Pick<Source, 'vintage' | 'licence' | 'columns' | 'mostBytes' | 'keyVariable'>> {
  /** Named with the vintage of what is loaded from it. */
  readonly from: string;
  readonly download: SourceDownload;
}

export interface Source {
  readonly name: string;
  readonly loader: LoaderName;
  /** The publisher and the dataset. */
  readonly title: string;
  /** The topics that it answers; empty for boundaries, which every topic needs. */
  readonly topics: readonly TopicSlug[];
  readonly download: SourceDownload;
  /** Tried in order when the first address is away, refuses, is nearly empty or is refused by the loader. */
  readonly else?: readonly OtherAddress[];
  /** Set for a second address. */
  readonly from?: string;
  /** The states of a file at the user's own address: as set, or null if the records determine them. Absent for the publisher's address. */
  readonly covers?: readonly string[] | null;
  /** The file is at the user's own address: its size is not known. */
  readonly isElsewhere?: true;
  /** The territories that its publisher covers, by its documentation: there, no record means that there is none. Another territory counts as
   * covered if it has a record. */
  readonly territories: readonly string[];
  /** The download size for the whole US, in bytes. */
  readonly bytes: number;
  /** The known sizes of single states; others are estimated as a 51st of the US. */
  readonly stateBytes?: Readonly<Record<string, number>>;
  readonly isMeasured: boolean;
  /** The approximate number of rows for the whole US, if known. */
  readonly rows?: number;
  /** The fewest rows of a load of the whole US: a layer that lost most of its rows must not answer "0 sites". Default: half of `rows`. */
  readonly least?: number | undefined;
  /** The largest allowed file, in bytes; default: 4 times `bytes` plus 64 MB. */
  readonly mostBytes?: number;
  /** The age in days at which a file is downloaded again from a server without validators. */
  readonly staleAfterDays: number;
  /** The age in days at which a new publication is overdue, with a margin; left out if no cadence is promised. Counted from the last
   * change, or from the end of the month or year in the address. */
  readonly oldAfterDays?: number;
  /** How often the agency publishes, in words. */
  readonly cadence: string;
  /** Published hourly or more often. */
  readonly isNearRealTime?: true;
  /** The vintage, if neither rows nor file name contain it; `edited` for the layer's edit date. */
  readonly vintage?: string | undefined;
  /** Replaces the loader's licence; `saysAccess` appends the day of access. */
  readonly licence?: string | undefined;
  readonly saysAccess?: true;
  /** The columns of a layer that its loader needs, each with its other names. */
  readonly columns?: readonly (readonly string[])[];
  /** A regular expression for the first line of a text file. */
  readonly firstLine?: string | undefined;
  /** `base`: included with every topic. `named`: only by name. `states`: only with --states or --for. */
  readonly when?: 'base' | 'named' | 'states';
  /** The source of the same dataset that this one replaces. */
  readonly replaces?: string;
  readonly keyVariable?: string;
  readonly keyFile?: string | undefined;
  readonly note?: string | undefined;
  /** The advice is for the agency's own server: an own address or mirror has no need of it. */
  readonly isNoteOfServer?: true;
}

/** A source as it is written down: its loader has its name, and its size is estimated, unless it says otherwise. */
export type SourceRow = Omit<Source, 'name' | 'loader' | 'isMeasured'> & {
  readonly isMeasured?: true;
} & ({ readonly name: LoaderName } | { readonly name: string; readonly loader: LoaderName });

export const ALL_TERRITORIES = [...TERRITORIES];

export const MB = 1_000_000;

/** Before an address: its newest copy in the Internet Archive, as it was. For files whose rows tell their age alone. */
export const NEWEST_COPY = 'https://web.archive.org/web/2id_/';
