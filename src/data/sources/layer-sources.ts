import type { LayerDescription } from '../../contract/layers/layer-description.ts';
import { isBuiltIn, TOPICS, type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { LoaderName } from '../loaders/loader-table.ts';
import { TERRITORIES } from '../tables/states.ts';
import { fileAt, layerAt, MB, type Source, type SourceDownload } from './source.ts';

/** A layer that names no interval is asked again after this. */
const STALE_AFTER_DAYS = 30;

/** What an update of such a layer may weigh: its size is not known. */
const MOST_BYTES = 4_000 * MB;

/** The sources of layers that a user describes, where the description has addresses. */
export function layerSources(): Source[] {
  return TOPICS.flatMap((topic) => {
    const download = isBuiltIn(topic) ? null : downloadOf(topic.layer!);
    if (download === null) return [];
    const { layer, title, published, licence, vintage } = topic.layer!;
    return [
      {
        name: layer,
        // Its loader has the name of the layer, which is no loader of ours.
        loader: layer as LoaderName,
        title,
        topics: [topic.slug],
        download,
        bytes: MB,
        mostBytes: MOST_BYTES,
        isMeasured: false,
        isElsewhere: true as const,
        territories: [...TERRITORIES],
        staleAfterDays: published?.stale_after_days ?? STALE_AFTER_DAYS,
        cadence: published?.cadence ?? 'unstated',
        licence,
        ...(typeof vintage === 'object'
          ? {}
          : { vintage: vintage ?? (download.kind === 'layer' ? 'edited' : undefined) }),
      },
    ];
  });
}

/** The command that loads a layer of a user's own: from its addresses, from the files of its description, or from files of the user's; null
 * for another topic. */
export function loadCommandOf(topic: TopicSlug): string | null {
  const of = topicOf(topic);
  if (of.layer === null || isBuiltIn(of)) return null;
  const { layer, sources = [] } = of.layer;
  if (downloadOf(of.layer) !== null) return `perilbook data get ${layer}`;
  const isNamed = sources.some(({ file }) => file !== undefined);
  return `perilbook data load ${layer}${isNamed ? '' : ' FILE'}`;
}

/** What is to be said of a layer whose description has changed in what decides its records. */
export const outdatedText = (topic: TopicSlug): string =>
  `its description was changed after its data was loaded (${loadCommandOf(topic)})`;

/** Null where the description has no address. */
function downloadOf({ sources = [] }: LayerDescription): SourceDownload | null {
  const [first, ...others] = sources.flatMap(({ url, where }) => (url ? [{ url, where }] : []));
  if (first === undefined) return null;
  if (!isArcgisLayer(first.url)) return fileAt(first.url);
  const more = others.map(({ url, where }) => ({ layer: url, where }));
  return layerAt(first.url, {
    ...(first.where === undefined ? {} : { where: first.where }),
    ...(more.length === 0 ? {} : { more }),
  });
}

/** `…/FeatureServer/0`, `…/MapServer/28`. */
const isArcgisLayer = (url: string): boolean => /\/(?:Feature|Map)Server\/\d+\/?(?:\?|$)/.test(url);
