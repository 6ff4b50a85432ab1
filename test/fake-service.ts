import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { HEADERS } from '../src/contract/headers.ts';
import { serveHttp } from './client/servers.ts';

interface Passed {
  readonly status: number;
  readonly body: string;
}

/** What becomes of an answer on its way: the address that was asked, and the answer as the service gave it. */
export type Alter = (address: string, answer: Passed) => Passed | Promise<Passed>;

/** Bundles report all topics but every third as unavailable: each is asked for again, as a single. */
export const lacking: Alter = (address, answer) => {
  if (!address.includes('/bundle/') || answer.status !== 200) return answer;
  const json = JSON.parse(answer.body);
  for (const [index, slug] of Object.keys(json.data.topics).entries())
    if (index % 3 > 0) json.data.topics[slug] = { error: 'unavailable' };
  return { ...answer, body: JSON.stringify(json) };
};

/** A rule for some requests; the first that fits decides. Without a status, the service answers and charges the request. */
export interface Fault {
  /** The requests since the faults were set, counted from 1: the first and the last of them. */
  readonly requests?: readonly [first: number, last: number];
  /** Every second, third, … request only. */
  readonly every?: number;
  /** Parts of the address: `/bundle/`, `lat=40.052&`. */
  readonly address?: readonly string[];
  /** The secret of the key that is sent. */
  readonly key?: string;
  /** Answered by this, and not by the service; `{key}` is the key that was sent. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer is charged and never arrives. */
  readonly isLost?: true;
  /** The answer is charged, and the connection ends before its last byte. */
  readonly isCut?: true;
  /** The answer is for another place: charged, and of no use. */
  readonly isElsewhere?: true;
  /** The credits that header and `meta` state. */
  readonly cost?: number;
  /** Replaces a text of the answer's body. */
  readonly replace?: readonly [from: string, to: string];
  /** Of a bundle only this topic arrives. */
  readonly keepsTopic?: string;
  /** A list in a list in a list …, so many, in place of empty details. */
  readonly nest?: number;
  /** Bytes on the connection before the answer's own head, which states no cost. */
  readonly head?: string;
}

/** The requests that were made, and what is done to the next. */
export interface FakeService {
  readonly url: string;
  /** Each answer that was sent: its status and path. */
  readonly answers: string[];
  /** How many requests a fault has met. */
  readonly faulted: () => number;
  /** Replaces the faults. */
  readonly script: (faults: readonly Fault[]) => void;
}

/** A service with scripted faults: it passes each request on to a real one, or not. */
export async function fakeService(
  t: TestContext,
  service: string,
  alter: Alter = (_, answer) => answer,
): Promise<FakeService> {
  const answers: string[] = [];
  let [faults, requests, faulted]: [readonly Fault[], number, number] = [[], 0, 0];
  const url = await serveHttp(t, async (request, response) => {
    const address = request.url ?? '';
    const key = String(request.headers['x-api-key']);
    const number = ++requests;
    const met = faults.find((rule) => fits(rule, number, address, key));
    if (met) faulted++;
    const fault = met ?? {};
    const { status, body = '', headers = {} } = fault;
    if (status !== undefined) {
      answers.push(`${status} ${address.split('?')[0]}`);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const withKey = (value: string) => value.replaceAll('{key}', key);
      const all = Object.entries({ 'content-type': 'application/json', ...headers });
      response.writeHead(
        status,
        Object.fromEntries(all.map(([name, value]) => [name, withKey(value)])),
      );
      return void response.end(withKey(text));
    }
    const real = await fetch(service + address, { headers: { 'x-api-key': key } });
    const passed = { status: real.status, body: await real.text() };
    answers.push(`${passed.status} ${address.split('?')[0]}`);
    if (fault.isLost) return void response.destroy();
    const answer = await alter(address, changed(fault, passed));
    if (fault.head !== undefined) return sendRaw(response, fault.head, answer);
    const cost =
      answer.status === real.status ? (fault.cost ?? real.headers.get('x-credit-cost')) : null;
    const sample = real.headers.get(HEADERS.sampleData);
    const all = { 'content-type': 'application/json', 'x-credit-cost': String(cost ?? 0) };
    const length = fault.isCut && { 'content-length': Buffer.byteLength(answer.body) + 1 };
    response.writeHead(answer.status, {
      ...{ ...all, ...length },
      ...(sample && { [HEADERS.sampleData]: sample }),
    });
    if (!fault.isCut) return void response.end(answer.body);
    response.write(answer.body, () => response.destroy());
  });
  const script = (next: readonly Fault[]) => {
    [faults, requests] = [next, 0];
  };
  return { url, answers, faulted: () => faulted, script };
}

/** Stands between client and service, and hands on each request and, altered, each answer. Resolves to its address. */
export async function standBetween(t: TestContext, service: string, alter: Alter): Promise<string> {
  return (await fakeService(t, service, alter)).url;
}

function fits(
  { requests, every = 1, address = [], key }: Fault,
  number: number,
  asked: string,
  sent: string,
): boolean {
  const [first, last] = requests ?? [1, Number.POSITIVE_INFINITY];
  if (number < first || number > last || number % every !== 0) return false;
  return address.every((part) => asked.includes(part)) && (key === undefined || key === sent);
}

function changed(
  { isElsewhere, keepsTopic, nest = 0, cost, replace }: Fault,
  answer: Passed,
): Passed {
  if (answer.status !== 200) return answer;
  if (isElsewhere) return forAnotherPlace(answer);
  if (keepsTopic !== undefined) {
    const json = JSON.parse(answer.body);
    json.data.topics = { [keepsTopic]: json.data.topics[keepsTopic] };
    return { ...answer, body: JSON.stringify(json) };
  }
  const nested = `"details":${'['.repeat(nest)}${']'.repeat(nest)}`;
  const [from, to] = nest > 0 ? ['"details":null', nested] : (replace ?? ['', '']);
  const priced =
    cost === undefined
      ? answer.body
      : answer.body.replace(/"credit_cost":\d+/, `"credit_cost":${cost}`);
  return { ...answer, body: priced.replace(from, to) };
}

function sendRaw(response: ServerResponse, head: string, { body }: Passed): void {
  const { socket } = response;
  socket?.end(
    `${head}HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** The answer, but for another place: paid, and of no use. */
export const forAnotherPlace = ({ status, body }: Passed): Passed => ({
  status,
  body: body.replace(/"lat":[^,]+/, '"lat":20'),
});
