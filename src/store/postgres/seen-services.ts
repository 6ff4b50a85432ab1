import type { SampleMark } from '../../contract/answer.ts';
import type { Scope } from '../../contract/credits.ts';
import type { Session } from '../../sql/postgres-pool.ts';
import { bundleContentsOf, REFUSAL_HOLDS_MS, type SeenBundle } from '../bundle-observations.ts';
import type { BundleContents } from '../port.ts';
import type { SettledCall } from './ledger-moves.ts';

/** Records what settlements show about their services, in the caller's transaction. Nearly all of them show nothing. */
export async function rememberObservations(
  session: Session,
  settled: readonly SettledCall[],
  now: number,
): Promise<void> {
  const statements: Promise<unknown>[] = [];
  const run = (sql: string, values: readonly unknown[]) => statements.push(session.rows(sql, values));
  // Once a source and not once a call: its row would be locked by every settlement.
  const answered = settled.filter(({ settlement }) => settlement.answers.length > 0);
  for (const [source, calls] of Map.groupBy(answered, ({ call }) => call.source)) {
    const samples = calls.filter(({ settlement }) => settlement.sample);
    const until = Math.max(0, ...samples.flatMap(({ settlement }) => settlement.answers.map(({ asOf }) => asOf)));
    const still = calls.at(-1)!.settlement.sample === true;
    if (samples.length > 0) {
      run(
        `INSERT INTO sample_sources AS known (source, until, still) VALUES ($1, $2, $3)
         ON CONFLICT (source) DO UPDATE SET until = greatest(known.until, excluded.until), still = excluded.still`,
        [source, until, still],
      );
    } else run('UPDATE sample_sources SET still = false WHERE source = $1 AND still', [source]);
  }
  for (const { settlement, call } of settled) {
    if (settlement.contents) {
      run(
        `INSERT INTO bundles (source, kind, topics, seen_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (source, kind) DO UPDATE SET topics = excluded.topics, seen_at = excluded.seen_at`,
        [call.source, settlement.contents.kind, JSON.stringify(settlement.contents.topics), now],
      );
    }
    if (settlement.refused) {
      run(
        `INSERT INTO refused_scopes (source, key, scope, refused_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (source, key, scope) DO UPDATE SET refused_at = excluded.refused_at`,
        [call.source, call.key, settlement.refused, now],
      );
    }
  }
  await Promise.all(statements);
}

export async function readSampleMark(session: Session, source: number): Promise<SampleMark | null> {
  const [mark] = await session.rows<{ until: number; still: boolean }>(
    'SELECT until, still FROM sample_sources WHERE source = $1',
    [source],
  );
  return mark ?? null;
}

export async function readBundleContents(session: Session, source: number, now: string): Promise<BundleContents> {
  const seen = await session.rows<SeenBundle & { now: number }>(
    `SELECT kind, topics, seen_at AS "seenAt", ${now} AS now FROM bundles WHERE source = $1`,
    [source],
  );
  return bundleContentsOf(seen, seen[0]?.now ?? 0);
}

export async function readRefusedScopes(
  session: Session,
  source: number,
  key: string,
  now: string,
): Promise<ReadonlySet<Scope>> {
  const rows = await session.rows<{ scope: Scope }>(
    `SELECT scope FROM refused_scopes WHERE source = $1 AND key = $2 AND abs(refused_at - ${now}) < $3`,
    [source, key, REFUSAL_HOLDS_MS],
  );
  return new Set(rows.map(({ scope }) => scope));
}
