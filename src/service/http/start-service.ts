import type { AddressInfo } from 'node:net';
import { inBatches } from '../../base/batches.ts';
import { PerilbookError } from '../../base/errors.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import type { DataDatabase } from '../../data/tables/data-database.ts';
import { isAccountsFailure } from '../accounts/calls.ts';
import type { ServiceAccounts } from '../accounts/service-accounts.ts';
import { type AnswerOptions, createCallAnswers, isLarge } from './answer-call.ts';
import { DeliveryTracker } from './delivery-tracker.ts';
import { openApiDocument } from './openapi.ts';
import { addRoutes } from './routes.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import { type ConnectionLimits, closeWithin, createWebServer } from './web-server.ts';

/** The start options of a service. The caller closes data and accounts, after the service. */
export interface ServiceOptions extends AnswerOptions {
  /** Only read; several services may share it. */
  readonly data: DataDatabase;
  /** Several services on the same accounts share quotas and rate limits. */
  readonly accounts: ServiceAccounts;
  /** 0 takes a free port. */
  readonly port: number;
  /** The descriptor of a listening socket, in place of host and port. */
  readonly descriptor?: number | undefined;
  /** Counts the requests. */
  readonly metrics?: Pick<ServiceMetrics, 'watch'> | undefined;
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

/**
 * Starts the lookup service.
 *
 * @throws PerilbookError USAGE when a radius is out of range or the port cannot be taken
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { data, accounts, host = '127.0.0.1', onError = () => {} } = options;
  const { rateWindow = 'sliding', lastCall = 'refused' } = options;
  // Released in the opposite order: requests end, their charges are settled, and the instance reverses the rest.
  await using starting = new AsyncDisposableStack();
  const instance = starting.use(await accounts.register({ rateWindow, lastCall }, onError));
  const tracker = starting.use(
    new DeliveryTracker(
      (outcomes) => instance.settle(outcomes),
      (error) => isAccountsFailure(error) || onError(error),
    ),
  );
  const answerCalls = createCallAnswers(data, instance, tracker, options);
  const app = createWebServer(instance, onError, options.limits);
  options.metrics?.watch(app);
  starting.defer(() => closeWithin(app, options.closeTimeout ?? CLOSE_TIMEOUT_MS));
  addRoutes(app, {
    data,
    clock: instance,
    tracker,
    answerCall: inBatches(answerCalls, { most: MOST_CALLS, isAlone: isLarge, atOnce: instance.batchesAtOnce }),
    describe: () => openApiDocument(options.standardTopics ?? NATURAL_SLUGS),
  });
  const { descriptor } = options;
  // Fastify passes its options on to Node, which knows `fd`; its types do not.
  const listenOn = descriptor === undefined ? { port: options.port } : ({ fd: descriptor } as object);
  await app.listen({ ...listenOn, host }).catch((error) => {
    throw listenFailure(error, host, options.port);
  });
  const { port, address } = app.server.address() as AddressInfo;
  const running = starting.move();
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= running.disposeAsync();
    return closing;
  };
  const at = descriptor === undefined ? host : address;
  const name = at.includes(':') ? `[${at}]` : at;
  return { url: `http://${name}:${port}`, port, close, [Symbol.asyncDispose]: close };
}

function listenFailure(error: unknown, host: string, port: number): unknown {
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
