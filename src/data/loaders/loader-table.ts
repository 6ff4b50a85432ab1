import { PerilbookError } from '../../base/errors.ts';
import { didYouMean } from '../../base/nearest-name.ts';
import { airQuality } from './air-quality.ts';
import { airnow } from './airnow.ts';
import { areas, counties } from './boundaries.ts';
import { earthquakes, wildfireHistory, wildfireIncidents, wildfirePerimeters } from './event-loaders.ts';
import { featureLoader } from './feature-loader.ts';
import { hurdat2 } from './hurdat2.ts';
import { ibtracs } from './ibtracs.ts';
import type { Loader } from './loader.ts';
import { nri } from './nri.ts';
import { radon } from './radon.ts';
import { SITE_FORMATS } from './site-formats.ts';
import { hail, tornado } from './storm-reports.ts';

/** All loaders by their names on the command line. */
export const LOADERS: ReadonlyMap<string, Loader> = new Map<string, Loader>([
  ['areas', areas],
  ['counties', counties],
  ['nri', nri],
  ...Object.entries(SITE_FORMATS).map(
    ([name, form]) => [name, featureLoader({ kind: 'sites', topic: form.topic }, form)] as const,
  ),
  ['earthquakes', earthquakes],
  ['hail', hail],
  ['tornado', tornado],
  ['hurdat2', hurdat2],
  ['ibtracs', ibtracs],
  ['wildfire-incidents', wildfireIncidents],
  ['wildfire-history', wildfireHistory],
  ['wildfire-perimeters', wildfirePerimeters],
  ['air-quality', airQuality],
  ['airnow', airnow],
  ['radon', radon],
]);

/**
 * The loader with a name.
 *
 * @throws PerilbookError USAGE when there is none
 */
export function loaderNamed(name: string): Loader {
  const loader = LOADERS.get(name);
  if (loader !== undefined) return loader;
  const names = ['sample', ...LOADERS.keys()];
  const message = `There is no loader "${name}"${didYouMean(name, names)}`;
  throw new PerilbookError('USAGE', message, `Use one of: ${names.join(', ')}.`);
}
