import type Database from 'better-sqlite3';
import { intersection, type TopicSet, topicSet } from '../../contract/topic-set.ts';
import { isAreaAnswered } from '../area-merge.ts';
import type { AreaWanted } from '../port.ts';
import type { areaStatements } from './area-answers.ts';

/** A call in flight for an area. */
export interface OpenAreaCall {
  readonly id: number;
  readonly run: number;
  readonly owner: string;
  readonly lease_until: number;
}

/** Which areas are being asked about; every function runs inside the caller's transaction. */
export function areaClaims(database: Database.Database, areas: ReturnType<typeof areaStatements>) {
  const openAt = database.prepare<[number, string], OpenAreaCall & { readonly topics: TopicSet }>(
    `SELECT calls.id, run, owner, lease_until, topics FROM area_claims JOIN calls ON calls.id = area_claims.call
     WHERE area_claims.source = ? AND area = ?`,
  );
  const insert = database.prepare('INSERT INTO area_claims (call, source, area, topics) VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM area_claims WHERE call = ?');
  const topicsOf = ({ wanted }: AreaWanted): TopicSet => topicSet(wanted.map(({ topic }) => topic));

  return {
    /** Whether an area has a fresh answer to a wanted topic by now. */
    isAnswered: (source: number, { area, wanted }: AreaWanted): boolean =>
      isAreaAnswered(areas.read(source, area), wanted),
    /** Calls in flight that ask for some of the same topics of the area. */
    open(source: number, wanted: AreaWanted): OpenAreaCall[] {
      const topics = topicsOf(wanted);
      return openAt.all(source, wanted.area).filter((call) => intersection(call.topics, topics) > 0);
    },
    add(call: number, source: number, wanted: AreaWanted): void {
      insert.run(call, source, wanted.area, topicsOf(wanted));
    },
    /** The call has an outcome. */
    end(call: number): void {
      remove.run(call);
    },
  };
}
