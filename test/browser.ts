import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

/** Where Debian puts it; CHROMIUM names another one. */
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's file, or null where this machine has none. */
export function browserFile(): string | null {
  return PLACES.find((place): place is string => !!place && existsSync(place)) ?? null;
}

/** For the `skip` of a test: false where there is a browser, else why it is left out. */
export const noBrowser: string | false =
  browserFile() === null ? 'no Chromium on this machine: apt-get install chromium, or name one by CHROMIUM' : false;

/** Alone with the page: nothing in the background, no traffic of the browser's own. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts the browser; it ends with the test. */
export async function startBrowser(t: TestContext | { after(fn: () => Promise<void>): void }): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: browserFile()!, args: ARGUMENTS });
  t.after(() => browser.close());
  return browser;
}
