/** The process under load: our service on sample data, and beside it a bare Fastify with routes of constant bodies. */
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { systemClock } from '../src/base/clock.ts';
import { customSubscription } from '../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../src/contract/topics.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import {
  accountsFileFor,
  openAccounts,
  sqliteAccounts,
} from '../src/service/accounts/open-accounts.ts';
import { startService } from '../src/service/http/start-service.ts';
import type { Order } from './service-orders.ts';
import { timeByPart } from './time-by-part.ts';

const database = openDataDatabase(process.argv[2]!);
const accounts = sqliteAccounts(openAccounts(accountsFileFor(process.argv[2]!)), systemClock);
await accounts.createAccount({ name: 'bench', subscription: customSubscription(1e12, 1e12) });
const { key } = await accounts.createKey('bench', ['bundle', ...TOPIC_SLUGS], null);
const service = await startService({ data: database, accounts, port: 0 });

const bodies = new Map<string, string>();
const bare = fastify({ logger: false });
bare.get<{ Params: { name: string } }>('/:name', (request, reply) =>
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(bodies.get(request.params.name)),
);
/** Where a client of the service looks for a bundle: the same bytes for all places, but for the request's id, without which
 * the client would take them for a cache's. Sent as they are, in three parts: to encode or copy 6 MB would take the client's time
 * on these cores. */
let bundle = [Buffer.alloc(0), Buffer.alloc(0)] as const;
const ID = /"request_id":"([0-9a-f-]{36})"/;
bare.get('/v1/bundle/enterprise', (_, reply) => {
  const [before, after] = bundle;
  const id = randomUUID();
  reply.hijack();
  const length = before.length + id.length + after.length;
  reply.raw.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
  });
  reply.raw.write(before);
  reply.raw.write(id);
  reply.raw.end(after);
});
const bareUrl = await bare.listen({ port: 0, host: '127.0.0.1' });

/** Ends the profile in progress; null where there is none. */
let endProfile: (() => void) | null = null;

process.on('message', (order: Order) => {
  if ('cpu' in order) {
    const { user, system } = process.cpuUsage();
    process.send!({ cpu: user + system });
  } else if ('profile' in order) {
    if (order.profile === null) endProfile?.();
    else profile(order.profile);
  } else if ('body' in order) {
    bodies.set(order.body.name, order.body.text);
    const id = ID.exec(order.body.text)?.[1] ?? '';
    const [before = '', after = ''] = order.body.text.split(id, 2);
    bundle = [Buffer.from(before), Buffer.from(after)];
    process.send!({ ready: true });
  } else {
    process.send!({ rss: process.memoryUsage.rss() });
  }
});

function profile(parts: NonNullable<Extract<Order, { profile: unknown }>['profile']>): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  endProfile = resolve;
  const patterns = parts.map(([name, pattern]) => [name, new RegExp(pattern)] as const);
  void timeByPart(patterns, () => {
    process.send!({ begun: true });
    return promise;
  }).then((microseconds) => process.send!({ microseconds: [...microseconds] }));
}

process.on('SIGINT', () => process.exit(0));
process.send!({ url: service.url, bareUrl, key });
