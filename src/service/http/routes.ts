import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import { HEADERS } from '../../contract/headers.ts';
import type { ServiceDatabase } from '../../data/tables/data-database.ts';
import { describeData } from '../../data/tables/describe-data.ts';
import type { AskedCall } from './answer-call.ts';
import { encodedBody } from './content-encoding.ts';
import type { DeliveryTracker } from './delivery-tracker.ts';
import { type FailureReply, type PaidAnswer, sendFailure, sendSuccess } from './replies.ts';
import { addReading } from './web-server.ts';

/**
 * Adds the contract's three endpoints, and two that need no key: `/healthz` and `/openapi.json`.
 *
 * @param description makes the OpenAPI document, when it is first asked for
 */
export function addRoutes(
  app: FastifyInstance,
  database: ServiceDatabase,
  clock: Clock,
  answerCall: (asked: AskedCall) => Promise<PaidAnswer | FailureReply>,
  tracker: DeliveryTracker,
  description: () => unknown,
): void {
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: AskedCall['asked'],
  ): Promise<FastifyReply> {
    const { socket } = request.raw;
    if (isQueued(reply.raw)) await once(reply.raw, 'socket');
    // Who has left is not charged, and the end of the connection would not be heard any more.
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
    // Before the body is compressed: who leaves meanwhile is not charged.
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
    const { topics, sample } = describeData(database);
    return reply.send({ status: 'ok', topics: topics.length, sample });
  });
  let document: string | undefined;
  addReading(app, clock, '/openapi.json', 'as GET', async (request, reply) => {
    document ??= JSON.stringify(description());
    const { body, coding } = await encodedBody(document, request.headers['accept-encoding']);
    if (coding !== null) reply.header('content-encoding', coding);
    return reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8').send(body);
  });
}

/**
 * Whether answers to earlier requests on the same connection have not left yet; when they have, Node gives the response
 * the socket. Who sends requests without waiting and does not read is held one answer, and is charged none behind it.
 */
function isQueued(response: ServerResponse): boolean {
  return response.socket === null;
}
