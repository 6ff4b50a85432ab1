import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { SampleMark } from '../../contract/answer.ts';
import type { BundleKind, Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { bundleContentsOf, REFUSAL_HOLDS_MS, type SeenBundle } from '../bundle-observations.ts';
import type { BundleContents } from '../port.ts';

/** What answers show about the service itself: sample data, contents of bundles, refused scopes. Every function runs inside the
 * caller's transaction, if there is one. */
export function observationStatements(database: Database.Database, clock: Clock) {
  const insertBundle = database.prepare(
    'INSERT INTO bundles (source, kind, topics, seen_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET topics = excluded.topics, seen_at = excluded.seen_at',
  );
  const insertRefusal = database.prepare(
    'INSERT INTO refused_scopes (source, key, scope, refused_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET refused_at = excluded.refused_at',
  );
  const bundles = database.prepare<[number], SeenBundle>(
    'SELECT kind, topics, seen_at AS seenAt FROM bundles WHERE source = ?',
  );
  const refusals = database
    .prepare<[number, string, number, number], Scope>(
      'SELECT scope FROM refused_scopes WHERE source = ? AND key = ? AND abs(refused_at - ?) < ?',
    )
    .pluck();

  const markSample = database.prepare(
    `INSERT INTO sample_sources (source, until, still) VALUES (?, ?, 1)
     ON CONFLICT DO UPDATE SET until = max(until, excluded.until), still = 1`,
  );
  const endSample = database.prepare('UPDATE sample_sources SET still = 0 WHERE source = ? AND still = 1');
  const sampleOf = database.prepare<[number], { until: number; still: 0 | 1 }>(
    'SELECT until, still FROM sample_sources WHERE source = ?',
  );

  return {
    /** Records whether answers of a source are sample data; `newest` is the time of the newest of them. */
    rememberSample(source: number, isSample: boolean, newest: number): void {
      if (isSample) markSample.run(source, newest);
      else endSample.run(source);
    },
    sampleMark(source: number): SampleMark | null {
      const mark = sampleOf.get(source);
      return mark ? { until: mark.until, still: mark.still === 1 } : null;
    },
    rememberBundle(source: number, kind: BundleKind, topics: readonly TopicSlug[]): void {
      insertBundle.run(source, kind, JSON.stringify(topics), clock.now());
    },
    rememberRefusal(source: number, key: string, scope: Scope): void {
      insertRefusal.run(source, key, scope, clock.now());
    },
    bundleContents: (source: number): BundleContents => bundleContentsOf(bundles.all(source), clock.now()),
    refusedScopes: (source: number, key: string): ReadonlySet<Scope> =>
      new Set(refusals.all(source, key, clock.now(), REFUSAL_HOLDS_MS)),
  };
}
