import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { axeFindings, noBrowser, startBrowser } from '../browser.ts';
import type { UiScene } from './ui-scene.ts';

export const options = { skip: noBrowser, timeout: 300_000 };

export interface Opened {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of, and what it asked of others than the page's own server. */
  readonly complaints: readonly string[];
}

export async function openPage(
  t: TestContext,
  { ui }: Pick<UiScene, 'ui'> | { readonly ui: { newAddress(): string } },
  wanted: BrowserContextOptions = {},
): Promise<Opened> {
  const browser = await startBrowser(t);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...wanted });
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  context.on('console', (message) => complaints.push(`console: ${message.text()}`));
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`));
  context.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  context.on('request', (request) => {
    if (!/^(?:blob:)?http:\/\/127\.0\.0\.1:/.test(request.url()))
      complaints.push(`request: ${request.url()}`);
  });
  const page = await context.newPage();
  await page.goto(ui.newAddress());
  await page.locator('[data-ready]').waitFor();
  return { context, page, complaints };
}

/** Chooses a file of this text, and of all topics wildfire: a credit a place. Waits for a price that is told. */
export async function choose(
  page: Page,
  { harness }: Pick<UiScene, 'harness'>,
  text: string,
  credits?: number,
): Promise<void> {
  const file = join(harness.folder, 'book.csv');
  writeFileSync(file, text);
  await page.setInputFiles('#file', file);
  // Until the upload has ended the topics are those of the file that was open before.
  await page.locator('#file-line', { hasText: 'book.csv' }).waitFor({ state: 'attached' });
  await onlyTopic(page);
  if (credits !== undefined) await price(page, String(credits));
}

export async function onlyTopic(page: Page, name = 'Wildfire'): Promise<void> {
  await page.click('[data-topics="none"]');
  await page.getByLabel(name).click();
}

/** Starts a run with this budget, if one is told, and confirms it. */
export async function start(page: Page, budget = ''): Promise<void> {
  if (budget !== '') await page.fill('#budget', budget);
  await page.click('#start');
  await page.click('#confirm-yes');
}

/** axe-core finds nothing, however grave. */
export async function nothingFound(page: Page, view: string): Promise<void> {
  let found: string[] = [];
  // A run may end while axe-core looks.
  for (let tries = 0; tries === 0 || (found.length > 0 && tries < 3); tries++) {
    await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
    found = await axeFindings(page);
  }
  assert.deepEqual(found, [], view);
}

export const title = (page: Page, text: string) =>
  page.locator('#run-title', { hasText: new RegExp(`^${text}$`) }).waitFor();

/** The price is known, whether its step is folded or not. */
export const price = (page: Page, credits: string) =>
  page
    .locator('#price-step:not(.stale) #price', { hasText: new RegExp(`^${credits}$`) })
    .waitFor({ state: 'attached' });

export const isFocused = (page: Page, selector: string) =>
  page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`);

/** Waits for an element, and presses Tab until it has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor();
  for (let presses = 0; presses < 40; presses++) {
    if (await isFocused(page, selector)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${selector}`);
}
