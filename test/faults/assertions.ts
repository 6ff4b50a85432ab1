import assert from 'node:assert/strict';
import type { RowStatus } from '../../src/columns/row-status.ts';
import type { Entry } from './fault-proxy.ts';
import type { Money } from './faults.ts';
import type { Ended, Row, Trial } from './hostile-setup.ts';

const isOwn = (name: string) => ['id', 'lat', 'lng'].includes(name);
const isLeading = (name: string) => name.startsWith('hazard_');

/** Never a wrong status in a row: what a row says of itself is true, and its fields are what the undisturbed service says
 * or empty. */
export function assertTrueRows(rows: readonly Row[], truth: readonly Row[], allowed: readonly RowStatus[]): void {
  assert.equal(rows.length, truth.length);
  for (const [index, row] of rows.entries()) {
    const expected = truth[index]!;
    const names = Object.keys(expected);
    const where = `row ${index + 1} (${row.hazard_status}: ${row.hazard_note})`;
    assert.deepEqual(Object.keys(row), names);
    const answered = names.filter((name) => !isOwn(name) && !isLeading(name));
    const wrong = names.filter((name) => {
      if (isLeading(name)) return false;
      return row[name] !== expected[name] && (isOwn(name) || row[name] !== '');
    });
    assert.deepEqual(wrong, [], `${where} has fields that the service did not say`);
    const status = row.hazard_status as RowStatus;
    assert.ok(allowed.includes(status), `${where}: only ${allowed.join(', ')} could be true`);
    const blank = answered.filter((name) => row[name] === '' && expected[name] !== '').length;
    const filled = answered.filter((name) => row[name] !== '').length;
    if (status === 'ok') assert.equal(blank, 0, `${where} is not complete`);
    else assert.ok(blank > 0, `${where} is complete`);
    if (status === 'partial') assert.ok(filled > 0, `${where} has nothing`);
    if (status === 'failed' || status === 'rejected') assert.equal(filled, 0, `${where} has something`);
    assert.equal(row.hazard_as_of !== '', filled > 0, where);
  }
}

/** The summary counts what the rows say. */
export function assertTrueSummary({ summary, rows }: Ended): void {
  for (const [status, count] of Object.entries(summary!.status)) {
    assert.equal(rows.filter((row) => row.hazard_status === status).length, count, `rows that are ${status}`);
  }
}

export interface Books {
  /** By the service. */
  readonly charged: number;
  /** By the ledger. */
  readonly ledger: { readonly charged: number; readonly unknown: number; readonly open: number };
}

export async function booksOf(trial: Trial): Promise<Books> {
  const ledger = await trial.inStore(async (store) => (await store.stats()).credits);
  return { charged: trial.charged(), ledger };
}

/** What the service charged, against what the ledger says. */
export function assertTrueBooks({ charged, ledger }: Books, money: Money): void {
  const told = `the service charged ${charged}, the ledger has ${ledger.charged} charged, ${ledger.unknown} unknown`;
  assert.equal(ledger.open, 0, 'no call is left open');
  const counted = ledger.charged + ledger.unknown;
  assert.ok(counted >= charged, `spent without being counted: ${told}`);
  if (money !== 'lied') assert.ok(ledger.charged <= charged, `called charged, and was not: ${told}`);
  if (money === 'free') assert.deepEqual([charged, counted], [0, 0], told);
  if (money === 'exact') assert.equal(counted, charged, told);
}

/** No request was paid more often than the retry policy promises, and none at all after its answer had arrived. */
export function assertNotPaidTwice(entries: readonly Entry[], most: number): void {
  const paid = new Map<string, number>();
  const delivered = new Set<string>();
  for (const { path, fault, charged } of entries) {
    assert.ok(!delivered.has(path), `asked again although it was answered: ${path}`);
    if (charged > 0) paid.set(path, (paid.get(path) ?? 0) + 1);
    if (charged > 0 && (fault === null || fault.delivers)) delivered.add(path);
  }
  for (const [path, times] of paid) assert.ok(times <= most, `paid ${times} times: ${path}`);
}
