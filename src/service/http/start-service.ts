import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../clock.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import type { ServiceDatabase } from '../../data/tables/data-database.ts';
import { radiiWith } from '../../data/topics/search-radii.ts';
import { PerilbookError } from '../../errors.ts';
import { enterInstance, forgetGoneInstances } from '../accounts/instances.ts';
import { createSettlements } from '../accounts/settlements.ts';
import { type AnswerOptions, createCallAnswers, isLarge } from './answer-call.ts';
import { createCallBatches } from './call-batches.ts';
import { createHandover } from './delivery-tracker.ts';
import { openApiDocument } from './openapi.ts';
import { addRoutes } from './routes.ts';
import { type ConnectionLimits, closeWithin, createWebServer } from './web-server.ts';

export interface ServiceOptions extends AnswerOptions {
  /** Opened by the caller, and closed by the caller after the service. */
  readonly database: ServiceDatabase;
  readonly clock: Clock;
  /** 0 takes a free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Longest wait for another process's lock on the database, in milliseconds. Default: as it was opened. */
  readonly busyTimeout?: number;
  /** How long `close` lets requests in flight go on, in milliseconds. Default: 10 000. */
  readonly closeTimeout?: number;
  readonly limits?: ConnectionLimits;
  /** Told of errors that no response can show: our own bugs, and a database that cannot be written. */
  readonly onError?: (error: unknown) => void;
}

export interface RunningService {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, lets requests in flight end within the bound, and settles their charges. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Starts the lookup service.
 *
 * @throws PerilbookError USAGE when a radius is out of range or the port cannot be taken
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { database, clock, host = '127.0.0.1', onError = () => {} } = options;
  if (options.busyTimeout !== undefined) database.pragma(`busy_timeout = ${Math.trunc(options.busyTimeout)}`);
  const settlements = createSettlements(database);
  settlements.releaseGone(null);
  forgetGoneInstances(database);
  const instance = enterInstance(database, clock);
  const tracker = createHandover(settlements, onError);

  async function leave(app: FastifyInstance | null): Promise<void> {
    try {
      if (app !== null) await closeWithin(app, options.closeTimeout ?? CLOSE_TIMEOUT_MS);
      tracker.close();
      settlements.release(instance.id);
    } finally {
      instance.close();
    }
  }

  let app: FastifyInstance | null = null;
  try {
    const answerCall = createCallBatches(
      createCallAnswers(database, clock, settlements, tracker, instance.id, options),
      isLarge,
    );
    app = createWebServer(clock, onError, options.limits);
    addRoutes(app, database, clock, answerCall, tracker, () =>
      openApiDocument(radiiWith(options.radii ?? {}), options.standardTopics ?? NATURAL_SLUGS),
    );
    await app.listen({ port: options.port, host });
  } catch (error) {
    await leave(app);
    throw startFailure(error, host, options.port);
  }
  const running = app;
  const { port } = running.server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${name}:${port}`,
    port,
    close() {
      closing ??= leave(running);
      return closing;
    },
  };
}

function startFailure(error: unknown, host: string, port: number): unknown {
  const code = (error as { code?: unknown }).code;
  if (code === 'ERR_SOCKET_BAD_PORT') {
    return new PerilbookError('USAGE', `Cannot listen on port ${port}`, 'Choose a port from 0 to 65535.', {}, error);
  }
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error;
  return new PerilbookError(
    'USAGE',
    `Cannot listen on ${host}:${port}: ${code === 'EADDRINUSE' ? 'another program does' : code}`,
    'Choose another port or host.',
    {},
    error,
  );
}
