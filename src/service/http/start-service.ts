import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inBatches } from '../../base/batches.ts';
import { BUNDLE_KINDS } from '../../contract/credits.ts';
import { HEADERS } from '../../contract/headers.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { type DataDatabase, readingData } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import { isAccountsFailure } from '../accounts/calls.ts';
import type { ServiceAccounts } from '../accounts/service-accounts.ts';
import type { ServiceInstance } from '../accounts/service-instance.ts';
import { type AnswerOptions, type AskedCall, createCallAnswers } from './answer-call.ts';
import { encodedBody } from './content-encoding.ts';
import { DeliveryTracker } from './delivery-tracker.ts';
import { openApiDocument } from './openapi.ts';
import { type FailureReply, type PaidAnswer, sendFailure, sendSuccess } from './replies.ts';
import {
  addReading,
  type ConnectionLimits,
  closeWithin,
  createWebServer,
  listenFailure,
} from './web-server.ts';

/** The start options of a service. The caller closes data and accounts, after the service. */
export interface ServiceOptions extends AnswerOptions {
  /** Only read; several services may share it. */
  readonly data: DataDatabase;
  /** Several services on the same accounts share quotas and rate limits. */
  readonly accounts: ServiceAccounts;
  /** 0 takes a free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** How long closing waits for requests in flight, in milliseconds. Default: 10 000. */
  readonly closeTimeout?: number;
  readonly limits?: ConnectionLimits;
  /** Receives errors that a response cannot show: bugs, and an accounts file that cannot be written. */
  readonly onError?: (error: unknown) => void;
}

export interface RunningService extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Accepts no more connections, lets requests in flight end within the time-out, and settles their charges. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 10_000;
/** Most calls of a batch: a larger one would keep the others waiting, and more bodies in memory. */
const MOST_CALLS = 64;

/** Starts the lookup service.
 * @throws PerilbookError USAGE when a radius is out of range or the port cannot be taken, SERVICE_DATA where the data cannot be read */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { data, accounts, host = '127.0.0.1', onError = () => {} } = options;
  // Released in the opposite order: requests end, their charges are settled, and the instance reverses the rest.
  await using starting = new AsyncDisposableStack();
  const instance = starting.use(await accounts.register(onError, options.lastCall));
  const onOther = (error: unknown) => isAccountsFailure(error) || onError(error);
  const tracker = starting.use(
    new DeliveryTracker((outcomes) => instance.settle(outcomes), onOther),
  );
  const answerCalls = readingData(data.name, () => createCallAnswers(data, instance, options));
  const app = createWebServer(instance, onError, options.limits);
  starting.defer(() => closeWithin(app, options.closeTimeout ?? CLOSE_TIMEOUT_MS));
  // An answer with all topics takes so long that it gets a batch of its own.
  const isAlone = ({ asked }: AskedCall) => asked.kind === 'enterprise';
  const answerCall = inBatches(answerCalls, {
    most: MOST_CALLS,
    isAlone,
    atOnce: instance.batchesAtOnce,
  });
  addRoutes(app, options, instance, tracker, answerCall);
  await app.listen({ port: options.port, host }).catch((error) => {
    throw listenFailure(error, host, options.port);
  });
  const { port } = app.server.address() as AddressInfo;
  const running = starting.move();
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= running.disposeAsync();
    return closing;
  };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, port, close, [Symbol.asyncDispose]: close };
}

/** Adds the three endpoints of docs/developer/service-api.md, and two that need no key: `/healthz` and `/openapi.json`. */
function addRoutes(
  app: FastifyInstance,
  { data, standardTopics = NATURAL_SLUGS }: ServiceOptions,
  clock: ServiceInstance,
  tracker: DeliveryTracker,
  answerCall: (asked: AskedCall) => Promise<PaidAnswer | FailureReply>,
): void {
  async function answer(request: FastifyRequest, reply: FastifyReply, asked: AskedCall['asked']) {
    const { socket } = request.raw;
    // Earlier responses on this connection have not been sent: Node gives a response its socket after that. A client that pipelines
    // requests and does not read has one answer in memory, and is not charged for later ones.
    if (reply.raw.socket === null) await once(reply.raw, 'socket');
    // A client that has left is not charged; the socket's `close` event has passed.
    if (socket.destroyed) return reply.hijack();
    const key = request.headers[HEADERS.key];
    const answered = await answerCall({
      key: typeof key === 'string' ? key : undefined,
      asked,
      query: request.query as Record<string, unknown>,
      requestId: request.id,
    });
    if ('failure' in answered) return sendFailure(reply, answered, clock.now());
    // Before the body is compressed: a client that leaves meanwhile is not charged.
    tracker.watch(reply.raw, socket, answered.charge.id);
    const encoded = await encodedBody(answered.body, request.headers['accept-encoding']);
    if (socket.destroyed) return reply.hijack();
    sendSuccess(reply, encoded, answered, clock.now());
    return reply;
  }

  for (const kind of BUNDLE_KINDS) {
    addReading(app, clock, `/v1/bundle/${kind}`, 'refused', (request, reply) =>
      answer(request, reply, { kind }),
    );
  }
  addReading(app, clock, '/v1/:topic/risk', 'refused', (request, reply) =>
    answer(request, reply, { kind: 'single', topic: (request.params as { topic: string }).topic }),
  );
  addReading(app, clock, '/healthz', 'as GET', (_, reply) => {
    const { topics, sample } = readingData(data.name, () => describeData(data));
    return reply.send({ status: 'ok', topics: topics.length, sample });
  });
  addReading(app, clock, '/openapi.json', 'as GET', (_, reply) =>
    reply.send(openApiDocument(standardTopics)),
  );
}
