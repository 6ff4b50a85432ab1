import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { perilbook } from '../cli/command-line.ts';
import { openHarness } from '../run/harness.ts';

/** A service that charges, and the command line with a key for it; a store is named with each command. */
export async function openService(t: TestContext) {
  const harness = await openHarness(t);
  const { folder, clock } = harness;
  writeFileSync(join(folder, 'key'), harness.key().secret, { mode: 0o600 });
  const asked = [
    '--base-url',
    harness.url,
    '--api-key-file',
    'key',
    '--subscription',
    'professional',
    '--anniversary-day',
    '31',
  ];
  const command = async (...words: string[]) => {
    const service = ['run', 'places', 'plan'].includes(words[0]!) ? asked : [];
    return await perilbook([...words, ...service], { folder, clock });
  };
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  return { ...harness, command, write, file: (name: string) => join(folder, name) };
}

/** Three places of the small service, two of them twice, with weights. */
export const PLACES = 'lat,lng,weight\n40.05,-99.95,1\n40.06,-99.95,30\n40.07,-99.95,2\n';
