import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Debian puts it; CHROMIUM names another one. */
const PLACES = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The browser's file, or null where this machine has none. */
export function browserFile(): string | null {
  return PLACES.find((place): place is string => !!place && existsSync(place)) ?? null;
}

/** For the `skip` of a test: false where there is a browser, else why it is left out. */
export const noBrowser: string | false =
  browserFile() === null
    ? 'no Chromium on this machine: apt-get install chromium, or name one by CHROMIUM'
    : false;

/** Alone with the page: nothing in the background, no traffic of the browser's own. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Starts the browser; it ends with the test. */
export async function startBrowser(
  t: TestContext | { after(fn: () => Promise<void>): void },
): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: browserFile()!, args: ARGUMENTS });
  t.after(() => browser.close());
  return browser;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly passes: readonly unknown[];
  readonly violations: readonly {
    id: string;
    impact: string;
    nodes: readonly { html: string }[];
  }[];
}

/** What axe-core finds wrong, however grave. The pages' policies forbid scripts of others, so it is put in from outside. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  // To load the style of a shadow root again, it would write inline styles.
  const { passes, violations } = (await page.evaluate('axe.run({ preload: false })')) as AxeResult;
  assert.ok(passes.length > 15, 'axe-core looked at the page');
  return violations.map(
    ({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]!.html.slice(0, 160)}`,
  );
}
