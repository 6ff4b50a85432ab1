import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { PerilbookError } from '../../errors.ts';
import { counted } from '../../figures.ts';
import { exposedKeyFiles, unencryptedKeys } from '../../job/planning/key-warnings.ts';
import { type CheckedStatement, CREDITS_NEEDED, runChecks, STATEMENTS } from '../../service/conformance/run-checks.ts';
import { askToSpend } from '../ask-to-spend.ts';
import type { Flags } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { say, sayJson, type World } from '../world.ts';

/** Manhattan: every agency has data there. */
const DEFAULT_PLACE = { lat: 40.7536, lng: -73.9832 };

/** `perilbook service check`: holds a service against the contract, statement by statement. */
export async function checkAction(world: World, flags: Flags): Promise<number> {
  const baseUrl = needed(flags, 'base-url');
  for (const warning of unencryptedKeys(baseUrl)) say(world, warning);
  const key = keyIn(world, needed(flags, 'key-file'));
  const narrow = flags['narrow-key-file'] as string | undefined;
  const location = {
    lat: degreesOf(flags, 'lat', DEFAULT_PLACE.lat, 90),
    lng: degreesOf(flags, 'lng', DEFAULT_PLACE.lng, 180),
  };
  say(
    world,
    `Checks ${counted(STATEMENTS.length, 'statement')} of the contract at ${baseUrl}, about ${location.lat}, ${location.lng}.\n` +
      `It spends up to ${counted(CREDITS_NEEDED, 'credit')} of the key's account.`,
  );
  await approve(world, flags);
  const result = await runChecks({
    baseUrl,
    key,
    location,
    sleep: (ms) => world.clock.sleep(ms, world.interrupt),
    ...(narrow === undefined ? {} : { narrowKey: keyIn(world, narrow) }),
    ...(flags.json ? {} : { onStatement: (checked) => world.stdout.write(`${lineOf(checked)}\n`) }),
  });
  if (flags.json) sayJson(world, result);
  const { passed, failed, skipped, creditsSpent } = result;
  say(world, `${passed} passed, ${failed} failed, ${skipped} skipped; ${counted(creditsSpent, 'credit')} spent.`);
  return failed === 0 && passed > 0 ? EXIT.complete : EXIT.someFailed;
}

function lineOf({ section, statement, outcome, reason }: CheckedStatement): string {
  return `${outcome.padEnd(7)}  ${section}: ${statement}${reason === '' ? '' : `\n           ${reason}`}`;
}

/** Spending asks on a terminal; elsewhere it needs --yes. */
async function approve(world: World, flags: Flags): Promise<void> {
  if (flags.yes) return;
  const words = { what: 'check', approve: 'Say --yes.', later: 'Check again when you want to.' };
  await askToSpend(world, CREDITS_NEEDED, words);
}

function keyIn(world: World, file: string): string {
  const path = resolve(world.workingFolder, file);
  for (const warning of exposedKeyFiles([{ file: path }])) say(world, warning);
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (key !== '') return key;
  } catch (error) {
    throw new PerilbookError('KEY_MISSING', `Cannot read the key file "${path}"`, 'Check its name.', {}, error);
  }
  throw new PerilbookError('KEY_MISSING', `The key file "${path}" is empty`, 'Write the key into it.');
}

function degreesOf(flags: Flags, name: string, otherwise: number, bound: number): number {
  const text = flags[name] as string | undefined;
  if (text === undefined) return otherwise;
  const degrees = Number(text);
  if (text.trim() !== '' && Math.abs(degrees) <= bound) return degrees;
  throw new PerilbookError('USAGE', `--${name} ${text} is no place`, 'Write decimal degrees, like --lat 39.7392.');
}

function needed(flags: Flags, name: string): string {
  const value = flags[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new PerilbookError(
    'USAGE',
    `--${name} is missing`,
    'Say: perilbook service check --base-url URL --key-file FILE',
  );
}
