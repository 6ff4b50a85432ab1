import type { Answer, Passage } from './fault-proxy.ts';

/** Makes something else of an answer of the service. */
export type Edit = (answer: Answer, passage: Passage) => Answer;

/** Asks the service, which charges, and hands on something else. */
export const instead =
  (edit: Edit) =>
  async (passage: Passage): Promise<void> =>
    passage.answer(edit(await passage.ask(), passage));

/** Another body; a text goes as it is, anything else as JSON. */
export const body = (make: (text: string, passage: Passage) => unknown): Edit => {
  return (answer, passage) => {
    const made = make(answer.body.toString(), passage);
    const bytes = Buffer.isBuffer(made) ? made : Buffer.from(typeof made === 'string' ? made : JSON.stringify(made));
    return { ...answer, body: bytes };
  };
};

// biome-ignore lint/suspicious/noExplicitAny: envelopes are bent freely
type Envelope = any;

/** The envelope with something changed in it. */
export const envelope = (bend: (envelope: Envelope) => unknown): Edit =>
  body((text) => {
    const whole = JSON.parse(text);
    return bend(whole) ?? whole;
  });

/** Every result of the answer, of a single or of a bundle, made into something else. */
export const results = (bend: (result: Envelope) => unknown): Edit =>
  envelope((whole) => {
    const { data } = whole;
    if (data.result) data.result = bend(data.result);
    else for (const slug of Object.keys(data.topics)) data.topics[slug] = bend(data.topics[slug]);
  });

/** Other headers; undefined takes one away. */
export const headers = (change: Readonly<Record<string, string | undefined>>): Edit => {
  return (answer) => {
    const all = Object.entries({ ...answer.headers, ...change }).filter(([, value]) => value !== undefined);
    return { ...answer, headers: Object.fromEntries(all) as Record<string, string> };
  };
};

export const both =
  (first: Edit, second: Edit): Edit =>
  (answer, passage) =>
    second(first(answer, passage), passage);

const JSON_TYPE = { 'content-type': 'application/json' };

/** Refuses or fails without asking the service. */
export const status =
  (code: number, said: unknown = {}, more: Readonly<Record<string, string>> = {}) =>
  (passage: Passage): void =>
    passage.answer({
      status: code,
      headers: { ...JSON_TYPE, ...more },
      body: Buffer.from(typeof said === 'string' ? said : JSON.stringify(said)),
    });

export const PAGE = '<!doctype html><html><body><h1>Sign in to the guest network</h1></body></html>';
