import assert from 'node:assert/strict';
import type { Answer } from '../../../src/contract/answer.ts';
import type { TopicSlug } from '../../../src/contract/topics.ts';
import type { Cell } from '../../../src/geo/coordinates.ts';
import { topicsIn } from '../../../src/store/answers/topic-set.ts';
import { readStored } from '../stored-places.ts';
import { BOSTON, charged, DENVER, free, HERE, type It, LA, NY } from './store-setup.ts';

/** Answers and failures of places and areas. */
export function testAnswers(it: It): void {
  it('places are read whole or by their keys, in blocks, with what each lacks', async (setup) => {
    const { store, source } = setup;
    const other = await store.source('another source');
    const cells = Array.from({ length: 2_300 }, (_, number) => ({
      lat7: number % 70,
      lng7: -number,
    }));
    const asOf = (number: number) => 1 + (number % 5);
    const told = cells.map((cell, number) => ({
      cell,
      answers: [
        { topic: 'hail' as const, asOf: asOf(number), fields: ['Very High', number, null] },
      ],
      failures: [],
    }));
    await store.putAnswers(source, told);
    await store.putAnswers(other, told.slice(0, 9));
    const wanted = [{ topic: 'hail' as const, freshSince: 3, fields: 2 }];
    // By another process, which has not read the texts yet.
    const reader = await setup.another('b');
    const found = await readStored(reader, source, cells, wanted);
    for (const [number, place] of found.entries()) {
      assert.equal(place!.isComplete, asOf(number) >= 3);
      assert.deepEqual([place!.asOf, place!.fields], [asOf(number), ['Very High', number]]);
      assert.equal(place!.record === null, place!.isComplete);
    }
    // Few of the stored cells: by their keys. In no order, some not stored and some twice.
    const numbers = Array.from({ length: 700 }, (_, index) => (index * 1_009) % 2_400);
    const mixed = numbers.map((number) => ({ lat7: number % 70, lng7: -number }));
    const expected = numbers.map((number) => found[number] ?? null);
    assert.deepEqual(await readStored(store, source, mixed, wanted), expected);
    const answers = (await store.read(source, mixed)).map(
      (record) => record?.answers.get('hail')?.fields[1] ?? null,
    );
    const stored = numbers.map((number) => (number < 2_300 ? number : null));
    assert.deepEqual(answers, stored);
  });

  it('places that are taken as they are written are as if they were read', async ({
    store,
    source,
  }) => {
    const answer = (topic: TopicSlug, number: number) => ({
      ...{ topic, asOf: 5 + number, fields: ['Low', number, null] },
    });
    const cells = Array.from({ length: 250 }, (_, number) => ({ lat7: number, lng7: 9 }));
    const wanted = (['hail', 'drought'] as const).map((topic) => ({
      ...{ topic, freshSince: 3, fields: 2 },
    }));
    const reason = 'unavailable' as const;
    const failures = [{ topic: 'drought' as const, reason, note: 'none', at: 9 }];
    // New ones, those with a failure, and those of which one answer is stored.
    const some = cells.map((cell, number) => ({
      cell,
      answers: [answer('hail', number)],
      failures: number % 3 === 0 ? failures : [],
    }));
    await store.putAnswers(source, some.slice(0, 90));
    const others = some.map((of, number) =>
      number < 90 ? { ...of, answers: [answer('drought', number)], failures: [] } : of,
    );
    const taken = await readStored(store, source, cells, wanted, { written: others });
    assert.deepEqual(taken, await readStored(store, source, cells, wanted));
    assert.deepEqual(
      [taken.filter((place) => place!.isComplete).length, taken[93]!.record!.failures.size],
      [90, 1],
    );
  });

  it('texts that another process numbers while places are read are known', async (setup) => {
    const { store, source } = setup;
    const answer = { topic: 'hail' as const, asOf: 9, fields: ['Low', 1, null] };
    const cells = Array.from({ length: 8_200 }, (_, number) => ({ lat7: number, lng7: 0 }));
    await store.putAnswers(
      source,
      cells.map((cell) => ({ cell, answers: [answer], failures: [] })),
    );
    const other = await setup.another('b');
    const later = { ...answer, asOf: 10, fields: ['a new text', 1, null], stated: 'another' };
    const records: unknown[] = [];
    await readStored(store, source, cells, [{ topic: 'hail', freshSince: 3, fields: 2 }], {
      async onRead({ forms }) {
        records.push(...(await store.recordsOf(forms)).map(({ answers }) => answers.get('hail')));
        const last = { cell: cells.at(-1)!, answers: [later], failures: [] };
        if (records.length === 0) await other.putAnswers(source, [last]);
      },
    });
    assert.deepEqual(records, [later]);
  });

  it('an answer that is compared with an area is none of its own, and marks it where it differs', async (setup) => {
    const { store, source, ask, propose, clock } = setup;
    const area = 'tract 06037106111';
    const settle = async (cell: Cell, rating: string, isComparison: boolean) => {
      const answers = [
        { topic: 'wildfire' as const, asOf: clock.now(), fields: [rating, 0, null] },
      ];
      const areas = [{ area, answers, comparableSince: 0, isComparison }];
      await store.settle([{ ...charged(await ask(propose(cell, 'single')), clock, 1), areas }]);
      const [stored] = await store.readAreas(source, [area]);
      return [stored!.answers.get('wildfire')?.fields[0], stored!.mismatchedAt !== null];
    };
    assert.deepEqual(await settle(NY, 'Very High', true), [undefined, false]);
    assert.deepEqual(await settle(LA, 'Very Low', false), ['Very Low', false]);
    assert.deepEqual(await settle(BOSTON, 'Very Low', true), ['Very Low', false]);
    assert.deepEqual(await settle(DENVER, 'Very High', true), ['Very Low', true]);
  });

  it('an area that was answered in two ways serves nobody for a year, whatever it is answered', async (setup) => {
    const { store, ask, propose, proposeFor, clock } = setup;
    const area = 'tract 06037106111';
    const settle = async (cell: Cell, rating: string, comparableSince: number) => {
      const answers = [
        { topic: 'wildfire' as const, asOf: clock.now(), fields: [rating, 0, null] },
      ];
      const claim = await ask(propose(cell, 'single'));
      await store.settle([
        { ...charged(claim, clock, 1), areas: [{ area, answers, comparableSince }] },
      ]);
    };
    const outcome = async (cell: Cell) => {
      const claim = await ask(proposeFor(area, cell));
      if (claim.outcome === 'granted') await store.settle([free(claim, clock)]);
      return claim.outcome;
    };
    const released = clock.now() + 1;
    await settle(LA, 'Very Low', released);
    clock.move(1);
    // A new release may say otherwise.
    await settle(NY, 'Very High', released);
    assert.equal(await outcome(BOSTON), 'answered');
    await settle({ lat7: 390_000_000, lng7: -1_000_000_000 }, 'Very High', released);
    assert.equal(await outcome(BOSTON), 'answered', 'the same once more');
    clock.move(1);
    await settle({ lat7: 400_000_000, lng7: -1_000_000_000 }, 'Very Low', released);
    assert.equal(await outcome(BOSTON), 'granted');
    clock.move(1);
    await settle({ lat7: 410_000_000, lng7: -1_000_000_000 }, 'Very Low', released);
    assert.equal(await outcome(BOSTON), 'granted');
    // After a year it may have been a release between two answers: what the area is answered then counts again.
    clock.move(364 * 86_400_000);
    assert.equal(await outcome(BOSTON), 'granted');
    clock.move(86_400_000);
    await settle({ lat7: 420_000_000, lng7: -1_000_000_000 }, 'Very Low', clock.now());
    assert.equal(await outcome(BOSTON), 'answered');
  });

  it('a newer answer replaces an older one and ends a failure; a failure leaves answers be', async (setup) => {
    const { store, buy, source, clock } = setup;
    const failure = {
      topic: 'wildfire',
      reason: 'unavailable',
      note: 'at the service',
      at: clock.now(),
    } as const;
    await buy(LA, 'single', { answers: [], failures: [failure] });
    assert.equal(
      (await store.read(source, [LA]))[0]!.failures.get('wildfire')!.reason,
      'unavailable',
    );
    await buy(LA);
    const [answered] = await store.read(source, [LA]);
    assert.equal(answered!.failures.size, 0);
    clock.move(400 * 86_400_000);
    await buy(LA, 'single', { answers: [], failures: [{ ...failure, at: clock.now() }] });
    const [both] = await store.read(source, [LA]);
    assert.ok(both!.answers.has('wildfire') && both!.failures.has('wildfire'));
  });

  it('answers that cost nothing are stored without a call in the ledger, all of a batch or none', async (setup) => {
    const { store, another, source, clock } = setup;
    const answer = { topic: 'wildfire', asOf: clock.now(), fields: ['Very Low', 0, null] } as const;
    const failure = {
      topic: 'hail',
      reason: 'unavailable',
      note: 'not here',
      at: clock.now(),
    } as const;
    await store.putAnswers(source, [
      { cell: LA, answers: [answer], failures: [failure] },
      { cell: NY, answers: [], failures: [{ ...failure, reason: 'rejected' }] },
      { cell: DENVER, answers: [], failures: [] },
    ]);
    const [la, ny, none] = await (await another('b')).read(source, [LA, NY, DENVER]);
    assert.equal(none, null);
    assert.deepEqual([...la!.answers.values()], [answer]);
    assert.equal(la!.failures.get('hail')!.note, 'not here');
    assert.equal(ny!.failures.get('hail')!.reason, 'rejected');
    // A later answer removes the topic's failure and keeps the answers to other topics.
    await store.putAnswers(source, [
      { cell: LA, answers: [{ ...answer, topic: 'hail' }], failures: [] },
    ]);
    const [later] = await store.read(source, [LA]);
    assert.deepEqual(
      [[...later!.answers.keys()].sort(), later!.failures.size],
      [['hail', 'wildfire'], 0],
    );
    // What cells share is stored with each of them, and removes the failure of its topic, too.
    const shared = [
      { ...answer, stated: 'a note' },
      { ...answer, topic: 'tornado', fields: ['Very High', 98.5, 0.25] },
    ] as const;
    const own = { ...answer, topic: 'drought', fields: ['Relatively Low', 1, 2] } as const;
    for (const text of ['first numbered', 'then known'])
      await store.putAnswers(source, [
        { cell: NY, answers: [{ ...own, topic: 'hail' }], shared, failures: [] },
        { cell: DENVER, answers: [own], shared, failures: [{ ...failure, note: text }] },
      ]);
    const [ny2, denver] = await (await another('c')).read(source, [NY, DENVER]);
    const sorted = (answers: Iterable<Answer>) =>
      [...answers].sort((a, b) => (a.topic < b.topic ? -1 : 1));
    assert.deepEqual(
      [sorted(ny2!.answers.values()), ny2!.failures.size],
      [sorted([...shared, { ...own, topic: 'hail' }]), 0],
    );
    assert.deepEqual(sorted(denver!.answers.values()), sorted([...shared, own]));
    assert.equal(denver!.failures.get('hail')!.note, 'then known');
    // A batch may name a new cell twice, beside one that is stored.
    await store.putAnswers(source, [
      { cell: HERE, answers: [answer], failures: [failure] },
      { cell: NY, answers: [own], failures: [] },
      { cell: HERE, answers: [{ ...own, topic: 'hail' }], failures: [] },
    ]);
    const [here, ny3] = await (await another('d')).read(source, [HERE, NY]);
    assert.deepEqual(
      [sorted(here!.answers.values()), here!.failures.size],
      [sorted([answer, { ...own, topic: 'hail' }]), 0],
    );
    assert.equal(ny3!.answers.size, 4);
    // A field that cannot be stored fails the whole batch.
    const broken = {
      cell: NY,
      answers: [{ ...answer, fields: new Array(300).fill(1) }],
      failures: [],
    };
    await assert.rejects(
      store.putAnswers(source, [{ cell: BOSTON, answers: [answer], failures: [] }, broken]),
    );
    assert.deepEqual(await store.read(source, [BOSTON]), [null]);
    const { calls } = await store.stats();
    assert.deepEqual(calls, { sent: 0, charged: 0, free: 0, unknown: 0 });
  });

  it('batches that are packed before others are written keep their own answers', async ({
    store,
    source,
    clock,
  }) => {
    const batch = (cell: Cell, fields: Answer['fields']) => [
      { cell, answers: [{ topic: 'hail' as const, asOf: clock.now(), fields }], failures: [] },
    ];
    // Answers are packed at once where the store knows their texts: from the second time on.
    for (const known of [1, 2]) await store.putAnswers(source, batch(HERE, [known, 2, null]));
    const fields = [
      [98.5, 0.25, 3],
      [12.25, null, 7],
    ];
    const written = [LA, NY].map((cell, index) =>
      store.packAnswers(source, batch(cell, fields[index]!)),
    );
    for (const write of written) await write();
    const found = await store.read(source, [LA, NY]);
    assert.deepEqual(
      found.map((record) => record!.answers.get('hail')!.fields),
      fields,
    );
  });

  it('answers of two sources never mix; prune counts and forgets old ones, and keeps the ledger', async (setup) => {
    const { store, another, buy, source, clock } = setup;
    await buy(LA);
    const old = clock.now();
    const answer = (topic: TopicSlug, asOf: number) => ({ topic, asOf, fields: [1] });
    await store.putAnswers(source, [
      {
        cell: LA,
        answers: [answer('hail', old + 1), answer('landslip' as TopicSlug, old)],
        failures: [],
      },
      { cell: NY, answers: [answer('wildfire', old)], failures: [] },
      { cell: DENVER, answers: [answer('hail', old - 5), answer('drought', old)], failures: [] },
    ]);
    const other = await store.source('another');
    const others = [NY, BOSTON].map((cell) => ({
      cell,
      answers: [answer('hail', old)],
      failures: [],
    }));
    await store.putAnswers(other, others);
    const topicsAt = async (of: number, cell: Cell) => [
      ...(await store.read(of, [cell]))[0]!.answers.keys(),
    ];
    assert.deepEqual(
      [await topicsAt(source, NY), await topicsAt(other, NY)],
      [['wildfire'], ['hail']],
    );
    const { sources } = await store.stats();
    assert.deepEqual(sources, [
      { source: 'another', cells: 2, answers: 2, oldest: old },
      { source: 'somewhere', cells: 3, answers: 6, oldest: old - 5 },
    ]);
    // By another process, which has not read the texts yet.
    const older = await (await another('b')).countOlder(old + 1);
    const found = [...older].flatMap(([of, sets]) =>
      [...sets].map(([set, n]) => `${of}: ${topicsIn(set)} of ${n}`),
    );
    assert.deepEqual(found, [
      'somewhere: wildfire of 2',
      'somewhere: drought,hail of 1',
      'another: hail of 2',
    ]);
    assert.equal((await store.countOlder(old - 5)).size, 0);
    assert.equal(await store.prune(old - 5), 0);
    assert.equal(await store.prune(old + 1), 7);
    assert.deepEqual(await topicsAt(source, LA), ['hail']);
    const { calls, credits } = await store.stats();
    assert.deepEqual([calls.charged, credits.charged], [1, 1]);
  });

  it('rejections are forgotten, and nothing else', async ({ store, buy, source, clock }) => {
    const at = clock.now();
    const failures = [
      { topic: 'hail', reason: 'rejected', note: 'outside ["rejected"] "coverage"', at },
      { topic: 'drought', reason: 'failed', note: 'said ["rejected"', at },
    ] as const;
    await buy(LA, 'single', { failures });
    const known = async () => {
      const [record] = await store.read(source, [LA]);
      return [[...record!.answers.keys()], [...record!.failures]];
    };
    const { reason, note } = failures[1];
    const [answered, both] = await known();
    assert.equal(both!.length, 2);
    assert.equal(await store.forgetRejections(), 1);
    assert.deepEqual(await known(), [answered, [['drought', { reason, note, at }]]]);
    assert.equal(await store.forgetRejections(), 0);
  });
}
