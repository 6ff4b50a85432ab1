import { existsSync } from 'node:fs';
import { bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, LOOKED_UP } from '../columns/row-status.ts';
import { type Field, isNoData } from '../contract/answer.ts';
import { createPlaceLookup } from '../data/lookup/place-lookup.ts';
import {
  createHeldVersion,
  oncePerVersion,
  openDataReadOnly,
  readingData,
} from '../data/tables/data-database.ts';
import { stateAt } from '../data/tables/states-near.ts';
import { createOriginFinder, localNotes } from '../data/topics/origin-notes.ts';
import { locationOf } from '../geo/coordinates.ts';
import { type ConnectionContext, connectionTo } from '../host/connection.ts';
import type { Job } from '../job/settings.ts';
import type { Row } from '../rows/port.ts';
import { localDataIn } from '../run/frame/local-data.ts';
import { placeAnswers } from '../run/look-up/place-answers.ts';
import { locate } from '../run/scan/read-row.ts';
import { statusOfFinding } from '../run/scan/row-places.ts';

/** Looks up single places in local data, in this thread and without a store: the first takes up to a second (outlines are read), later ones
 * about one millisecond (18 topics, sample data). Each has a transaction of its own, so that a `data update` counts from the next one on. */
export class LocalPlaces implements Disposable {
  readonly #file: string;
  #opened: OpenedData | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /** The fields of a place, in the order of the added columns. @throws LOCAL_DATA where no topic has data, SERVICE_DATA */
  fields(
    lat: string,
    lng: string,
    job: Job,
    { clock, workingFolder }: ConnectionContext,
  ): readonly Field[] {
    const now = clock.now();
    // A missing file gives the same error as a file without data.
    if (!existsSync(this.#file)) connectionTo(null, job, { workingFolder });
    this.#opened ??= openData(this.#file);
    const { database, readVersion, describe, originOf, lookUps } = this.#opened;
    const lookUp = database.transaction(() => {
      readVersion();
      const described = describe();
      const row: Row = { number: 1, line: 1, fields: [lat, lng] };
      const located = locate(row, job, { pair: null });
      const findState = () => (located.ok ? stateAt(locationOf(located.cell)) : []);
      connectionTo(described, job, { workingFolder, findState });
      const { topics, counts } = job;
      if (!located.ok) {
        const status = statusOfFinding(located.finding);
        return bareFields(topics, { status, note: located.note }, counts);
      }
      const asOf = Math.max(now, described.asOf);
      const result = (counts ? lookUps.counted : lookUps.bare)(
        topics,
        locationOf(located.cell),
        now,
      );
      const answersOf = placeAnswers({ asOf, now: asOf });
      const { answers: own, shared = [], failures } = answersOf(located.cell, topics, result);
      const answers = [...shared, ...own].sort(
        (a, b) => topics.indexOf(a.topic) - topics.indexOf(b.topic),
      );
      const record = {
        answers: new Map(answers.map((answer) => [answer.topic, answer])),
        failures: new Map(failures.map((failure) => [failure.topic, failure])),
      };
      const status = cellStatus(record, topics, () => ({ freshSince: 0 }), asOf, LOOKED_UP);
      // A dataset that has nothing on the place gave no answer.
      const answered = answers.filter(({ fields }) => !isNoData(fields)).map(({ topic }) => topic);
      const origin =
        result.kind === 'covered' && answered.length > 0
          ? localNotes(described, counts).noteOf(answered, originOf(result.area))
          : '';
      const note = [origin, status.note].filter(Boolean).join('; ');
      return enrichedFields(record, topics, { ...status, note }, () => false, counts, asOf);
    });
    return readingData(this.#file, lookUp);
  }

  [Symbol.dispose](): void {
    this.#opened?.database.close();
    this.#opened = null;
  }
}

type OpenedData = ReturnType<typeof openData>;

function openData(file: string) {
  const database = openDataReadOnly(file);
  const version = createHeldVersion(database);
  const describe = oncePerVersion(version.held, () => localDataIn(database, file, 0));
  const lookUpWith = (counts: boolean) => createPlaceLookup(database, { counts }, version.held);
  return {
    database,
    readVersion: version.read,
    describe,
    originOf: createOriginFinder(database, version.held, () => describe().countyRatings),
    lookUps: { counted: lookUpWith(true), bare: lookUpWith(false) },
  };
}
