import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { readInputPath, withoutQuotes } from '../../base/path-names.ts';
import { isBuiltIn, TOPICS } from '../../contract/topics.ts';
import type { JobFile } from '../../job/job-file.ts';
import type { Job } from '../../job/settings.ts';
import type { Report } from '../../report/figures/gather-facts.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import { withLastTerms } from '../../run/frame/account-state.ts';
import { keyRefusal } from '../../run/ledger-calls.ts';
import { unapprovedText } from '../../run/plan/notices.ts';
import {
  type AvailableChoices,
  availableChoices,
  type Choice,
  confirmation,
  firstChoice,
  makeJobFile,
  settingsFor,
} from '../files/choice.ts';
import { pageEffects, type UiDependencies } from '../files/dependencies.ts';
import { previewFile } from '../files/file-preview.ts';
import { type ErrorMessage, makeErrorMessage, RefusedRequest } from '../files/page-words.ts';
import { type BudgetReach, type JobPrice, type PriceRequest, Pricing } from '../files/pricing.ts';
import { type ChosenFile, Workspace } from '../files/workspace.ts';
import { type EndedRun, latestRun, Runs, type RunUpdate } from './runs.ts';

/** What the user confirmed. */
interface Confirmed {
  readonly budget: number;
  readonly confirmed: string;
  /** The price that was shown with the refusal that made it dearer; null where none was. */
  readonly acceptedPrice: number | null;
}

/** The operations of the page, without HTTP: one method for each route. */
export class UiApi {
  readonly dependencies: UiDependencies;
  readonly workspace: Workspace;
  readonly runs: Runs;
  readonly #pricing: Pricing;
  readonly #closing = new AbortController();
  #keyCheck: { readonly checked: string; readonly refusal: Promise<PerilbookError | null> } | null =
    null;
  #first: string | null = null;
  /** The columns of the files that were shown, by id and header setting. */
  readonly #columns = new Map<string, readonly string[]>();

  constructor(dependencies: UiDependencies) {
    this.dependencies = dependencies;
    this.workspace = new Workspace(dependencies.workspace, dependencies.clock.now());
    this.runs = new Runs(dependencies);
    const effects = pageEffects(dependencies, () => {});
    this.#pricing = new Pricing(dependencies.store, effects);
  }

  /** Removes the files of earlier days, and opens the one that was named at the start. @throws INPUT_UNREADABLE */
  async begin(): Promise<void> {
    const { store, clock } = this.dependencies;
    const atWork = (await store.runs()).filter(({ state }) => state === 'running');
    const outputs = atWork.map(({ output }) => output);
    this.workspace.removeUnused(clock.now(), outputs);
    if (this.dependencies.first !== null)
      this.#first = (await this.addPath(this.dependencies.first)).id;
  }

  /** Service, account and limits for the start of the page, without the key and its file. */
  async about(): Promise<unknown> {
    const { job } = await withLastTerms(this.#anyJob(), this.dependencies.store);
    return {
      source: this.#usualSource(),
      service: job.service.kind === 'remote' ? new URL(job.service.baseUrl).host : null,
      account: job.account.name,
      subscription: `${job.account.isAssumed ? 'assumed: ' : ''}${job.account.subscription.name}`,
      most_budget: this.dependencies.mostBudget,
      folder: this.dependencies.workspace,
      first: this.#first,
      // Layers are no part of a group, and asked for by name.
      topics: TOPICS.map((topic) => ({
        slug: topic.slug,
        title: topic.title,
        group: isBuiltIn(topic) ? topic.category : 'layer',
      })),
    };
  }

  file(id: string): ChosenFile {
    const file = this.workspace.get(id);
    if (file) return file;
    throw new RefusedRequest(404, 'UNKNOWN_FILE', 'Unknown file', 'Choose the file again.');
  }

  /** Adds a file of this machine. @throws INPUT_UNREADABLE */
  async addPath(named: string): Promise<ChosenFile> {
    const name = readInputPath(withoutQuotes(named));
    if (typeof name !== 'string')
      throw new PerilbookError('INPUT_UNREADABLE', name.fault, 'Name a file of this machine.');
    const path = resolve(this.dependencies.workingFolder, name);
    await previewFile({ name: basename(path), path });
    return this.workspace.addPath(path);
  }

  /** The preview of an upload; one that cannot be read is removed. */
  async showUpload(file: ChosenFile): Promise<unknown> {
    try {
      return await this.show(file);
    } catch (error) {
      this.workspace.discard(file.id);
      throw error;
    }
  }

  /** A file's preview, with the settings of its last run.
   * @param wanted whether its first line is a header; null: as in the last run */
  async show(file: ChosenFile, wanted: boolean | null = null): Promise<unknown> {
    const settings = this.workspace.settings(file);
    const header = wanted ?? settings?.header ?? true;
    const preview = await this.#preview(file, header);
    this.workspace.touch(file, this.dependencies.clock.now());
    const { id, name, isUpload, path } = file;
    return {
      id,
      name,
      path: isUpload ? null : path,
      ...preview,
      header,
      chosen: firstChoice(settings, header, preview, this.#usualSource()),
      run: await this.run(file),
      has_output: existsSync(this.outputOf(file)),
    };
  }

  /** The run of a file, or how its latest run ended in an earlier process; null before the first. */
  async run(
    file: ChosenFile,
  ): Promise<RunUpdate | { readonly phase: 'ended'; readonly end: EndedRun } | null> {
    const update = this.runs.update(file.id);
    if (update !== null) return update;
    const end = await latestRun(this.dependencies.store, this.outputOf(file));
    return end && { phase: 'ended', end };
  }

  async choices(file: ChosenFile, choice: Choice): Promise<AvailableChoices> {
    const { topics } = makeJobFile(choice, await this.#columnsOf(file, choice));
    const input = file.isUpload ? '-' : file.path;
    return await availableChoices(this.dependencies, { input, topics });
  }

  /** Why the paid service refuses the page's keys; null where it does not say so. Asked once for each set of keys, free of charge.
   * @param again ask it also where it was asked before */
  async keyRefusal(again: boolean): Promise<{ readonly refusal: ErrorMessage | null }> {
    const job = this.#anyJob();
    const connection = await this.dependencies.connectionOf(job);
    if (connection.kind === 'local' || connection.sample) return { refusal: null };
    const { store, clock } = this.dependencies;
    const checked = connection.keys.map(({ fingerprint }) => fingerprint).join();
    if (again || this.#keyCheck?.checked !== checked) {
      const parts = { store, clock, interrupt: this.#closing.signal, job };
      this.#keyCheck = { checked, refusal: keyRefusal(connection, parts).catch(refusalOfKey) };
    }
    const refusal = await this.#keyCheck.refusal;
    return { refusal: refusal && makeErrorMessage(refusal) };
  }

  /** The public data that the chosen topics lack here, or the loaded part of it. */
  async data(
    file: ChosenFile,
    choice: Choice,
    isApproved: boolean,
  ): Promise<{ readonly words: string | null }> {
    const job = this.#jobOf(file, await this.#settingsOf(file, { ...choice, source: 'local' }));
    return { words: await this.dependencies.dataFor(job, isApproved) };
  }

  async price(file: ChosenFile, choice: Choice): Promise<JobPrice> {
    return await this.#pricing.price(await this.#request(file, choice));
  }

  async reach(file: ChosenFile, choice: Choice, budget: number): Promise<BudgetReach> {
    return await this.#pricing.reach(await this.#request(file, choice), budget);
  }

  /** Starts a run. @throws RefusedRequest unless the confirmation names this budget */
  async start(
    file: ChosenFile,
    choice: Choice,
    { budget, confirmed, acceptedPrice }: Confirmed,
  ): Promise<void> {
    if (confirmed !== confirmation(budget)) {
      const message = unapprovedText('run', { most: counted(budget, 'credit'), parts: null });
      throw new RefusedRequest(409, 'NEEDS_APPROVAL', message, `Confirm: ${confirmation(budget)}.`);
    }
    const { mostBudget } = this.dependencies;
    if (mostBudget !== null && budget > mostBudget) {
      const message = `The budget is above ${counted(mostBudget, 'credit')}`;
      throw new RefusedRequest(422, 'BUDGET', message, 'perilbook ui was started with this limit.');
    }
    const settings = { ...(await this.#settingsOf(file, choice)), budget };
    const job = this.#jobOf(file, settings);
    this.runs.start(file.id, job, acceptedPrice);
    this.workspace.keepSettings(file, { ...this.#placeOf(file), output: job.output, ...settings });
  }

  outputOf(file: ChosenFile): string {
    return this.workspace.output(file, this.dependencies.jobOf(this.#placeOf(file)).output);
  }

  /** The report of a file's latest run, which may still be running. */
  async report(file: ChosenFile): Promise<Report> {
    const settings = this.workspace.settings(file);
    if (settings === null)
      throw new RefusedRequest(404, 'NO_RESULT', 'This file has no report yet', 'Run it first.');
    return await this.dependencies.reportOf(this.#jobOf(file, settings));
  }

  /** Stops all runs; resolves to their number. */
  async close(): Promise<number> {
    this.#closing.abort();
    await this.#keyCheck?.refusal.catch(() => {});
    const stopped = await this.runs.close();
    this.#pricing[Symbol.dispose]();
    return stopped;
  }

  async #request(file: ChosenFile, choice: Choice): Promise<PriceRequest> {
    const job = this.#jobOf(file, await this.#settingsOf(file, choice));
    return { job, connection: await this.dependencies.connectionOf(job) };
  }

  #placeOf({ path, name }: ChosenFile): JobFile {
    return { name: basename(name, extensionOf(name)), input: path };
  }

  #jobOf(file: ChosenFile, settings: JobFile): Job {
    return this.dependencies.jobOf({
      ...settings,
      ...this.#placeOf(file),
      output: this.outputOf(file),
    });
  }

  #usualSource() {
    const { kind } = this.#anyJob().service;
    return kind === 'remote' ? 'service' : kind;
  }

  /** A job for settings that do not depend on its input. */
  #anyJob(): Job {
    return this.dependencies.jobOf({ input: '-' });
  }

  async #settingsOf(file: ChosenFile, choice: Choice): Promise<JobFile> {
    const settings = makeJobFile(choice, await this.#columnsOf(file, choice));
    return settingsFor(this.#anyJob(), settings, choice.source);
  }

  async #columnsOf(
    file: ChosenFile,
    { lat, lng, header = true, order }: Choice,
  ): Promise<readonly string[]> {
    const columns =
      this.#columns.get(`${file.id} ${header}`) ?? (await this.#preview(file, header)).columns;
    const used = Math.max(lat, lng, typeof order === 'number' ? order : 0);
    if (used < columns.length) return columns;
    throw new RefusedRequest(
      422,
      'COLUMNS',
      'Unknown column',
      'Reload the page: the file may have changed.',
    );
  }

  async #preview(file: ChosenFile, header: boolean) {
    const preview = await previewFile(file, header);
    this.#columns.set(`${file.id} ${header}`, preview.columns);
    return preview;
  }
}

/** A key that cannot be sent is refused. A quota or a minute that leaves no credit for the check says nothing about the key. */
function refusalOfKey(error: unknown): PerilbookError | null {
  if (!(error instanceof PerilbookError)) throw error;
  return error.code === 'KEY_REFUSED' ? error : null;
}
