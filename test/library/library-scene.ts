import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  type AnswerSource,
  type ClientSettings,
  createClient,
  openStore,
} from '../../src/index.ts';
import { type Harness, type HarnessOptions, openHarness } from '../run/harness.ts';
import { releaseLater } from '../service/small-data.ts';

/** Limits that no test reaches. */
const LARGE = { credits_per_month: 100_000, credits_per_minute: 100_000 };

/** A service whose clock is the real one, as the library's is, and a store that the library opened. */
export async function openScene(t: TestContext, options: HarnessOptions = {}) {
  const harness = await openHarness(t, {
    clock: { start: Date.now(), factor: 1, origin: Date.now() },
    ...options,
  });
  const store = await openStore(join(harness.folder, 'library.db'));
  releaseLater(t, () => store[Symbol.asyncDispose]());
  const secret = harness.key().secret;
  const client = (said: Partial<ClientSettings> = {}): AnswerSource =>
    createClient({
      base_url: harness.url,
      api_key: secret,
      subscription: LARGE,
      anniversary_day: 31,
      ...said,
    });
  return { ...harness, harness, store, secret, client };
}

/** Locations as rows of a program, with what a program keeps beside them. */
export function rowsOf(locations: readonly (readonly [number, number])[]) {
  return locations.map(([lat, lng], index) => ({ id: index + 1, lat, lng }));
}

export { collected as all } from '../collected.ts';

/** The folder's data file, as if its data were the agencies'. */
export function localFile({ folder }: Harness): string {
  return join(folder, 'data.db');
}

export const statuses = (rows: readonly { readonly status: string }[]): string[] =>
  rows.map(({ status }) => status);
