import { counted, grouped } from '../../format-numbers.ts';
import { getBoundariesCommand } from '../../library/get-command.ts';
import type { Prepared } from '../../run/prepare.ts';
import type { FoundAreas } from '../../run/scan/find-areas.ts';

/** What the boundaries of this machine say about the places. */
export function boundaryWords({ found, nearBorder, inNoArea, noBoundaries }: FoundAreas): string {
  const others = [
    nearBorder > 0 ? `${grouped(nearBorder)} on a border` : '',
    inNoArea > 0 ? `${grouped(inNoArea)} in no area` : '',
    noBoundaries > 0 ? `${grouped(noBoundaries)} in states without boundaries here` : '',
  ].filter(Boolean);
  const words = `${counted(found, 'place')} in an area`;
  return others.length === 0 ? words : `${words}; bought one by one: ${others.join(', ')}`;
}

/** How to get the boundaries that some places lack. */
export function missingBoundariesMessage({ job, plan }: Prepared, folder: string): string[] {
  const level = job.areas?.find;
  if (level === undefined || (plan.scan.foundAreas?.noBoundaries ?? 0) === 0) return [];
  return [`To get the boundaries of the other states: ${getBoundariesCommand(level, job.input, folder)}`];
}
