import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/clock.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { DataDatabase } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import type { AskedCall } from './answer-call.ts';
import { encodedBody } from './content-encoding.ts';
import type { DeliveryTracker } from './delivery-tracker.ts';
import { type FailureReply, type PaidAnswer, sendFailure, sendSuccess } from './replies.ts';
import { addReading } from './web-server.ts';

/** The dependencies of the routes. */
export interface RouteParts {
  readonly data: DataDatabase;
  readonly clock: Pick<Clock, 'now'>;
  readonly tracker: DeliveryTracker;
  readonly answerCall: (asked: AskedCall) => Promise<PaidAnswer | FailureReply>;
  /** Makes the OpenAPI document at its first request. */
  readonly describe: () => unknown;
}

/** Adds the three endpoints of docs/developer/service-api.md, and two that need no key: `/healthz` and `/openapi.json`. */
export function addRoutes(app: FastifyInstance, { data, clock, tracker, answerCall, describe }: RouteParts): void {
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: AskedCall['asked'],
  ): Promise<FastifyReply> {
    const { socket } = request.raw;
    if (isQueued(reply.raw)) await once(reply.raw, 'socket');
    // A client that has left is not charged; the socket's `close` event has passed.
    if (socket.destroyed) return reply.hijack();
    const key = request.headers[HEADERS.key];
    const answered = await answerCall({
      key: typeof key === 'string' ? key : undefined,
      from: request.ip,
      asked,
      query: request.query as Record<string, unknown>,
      requestId: request.id,
    });
    if ('failure' in answered) return sendFailure(reply, answered, request.id, clock.now());
    // Before the body is compressed: a client that leaves meanwhile is not charged.
    tracker.watch(reply.raw, socket, answered.charge.id);
    const encoded = await encodedBody(answered.body, request.headers['accept-encoding']);
    if (socket.destroyed) return reply.hijack();
    sendSuccess(reply, encoded, answered, clock.now());
    return reply;
  }

  for (const kind of ['standard', 'enterprise'] as const) {
    addReading(app, clock, `/v1/bundle/${kind}`, 'refused', (request, reply) => answer(request, reply, { kind }));
  }
  addReading(app, clock, '/v1/:topic/risk', 'refused', (request, reply) =>
    answer(request, reply, { kind: 'single', topic: (request.params as { topic: string }).topic }),
  );
  addReading(app, clock, '/healthz', 'as GET', (_, reply) => {
    const { topics, sample } = describeData(data);
    return reply.send({ status: 'ok', topics: topics.length, sample });
  });
  let document: string | undefined;
  addReading(app, clock, '/openapi.json', 'as GET', async (request, reply) => {
    document ??= JSON.stringify(describe());
    const { body, coding } = await encodedBody(document, request.headers['accept-encoding']);
    if (coding !== null) reply.header('content-encoding', coding);
    return reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8').send(body);
  });
}

/** Whether earlier responses on the same connection have not been sent yet; Node gives a response its socket after that. A
 * client that pipelines requests and does not read has one answer in memory, and is not charged for later ones. */
function isQueued(response: ServerResponse): boolean {
  return response.socket === null;
}
