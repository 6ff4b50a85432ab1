import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import { PerilbookError } from '../../base/errors.ts';
import { CREDITS } from '../../contract/credits.ts';

export type ServiceMetrics = ReturnType<typeof createServiceMetrics>;

/** From a single topic (some ms) to a very slow client. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The price of a delivered answer. Other routes are free. */
const CREDITS_OF_ROUTE: Readonly<Record<string, number>> = {
  '/v1/:topic/risk': CREDITS.single,
  '/v1/bundle/standard': CREDITS.standard,
  '/v1/bundle/enterprise': CREDITS.enterprise,
};

/** Counts what a service does. Labels are only routes and statuses, because readers of the metrics must not see accounts and keys. */
export function createServiceMetrics() {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [registry];
  const requests = new Counter({
    name: 'perilbook_service_requests_total',
    help: 'Requests that have ended, by route and status',
    labelNames: ['route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'perilbook_service_request_duration_seconds',
    help: 'Time from the request to the end of its answer',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  });
  const credits = new Counter({
    name: 'perilbook_service_charged_credits_total',
    help: 'Credits of answers that were delivered; others are not charged',
    labelNames: ['route'],
    registers,
  });
  const inFlight = new Gauge({
    name: 'perilbook_service_requests_in_flight',
    help: 'Requests that are being answered',
    registers,
  });

  /** To be called before the routes are added. */
  function watch(app: FastifyInstance): void {
    app.addHook('onRequest', (request, { raw }, done) => {
      const startedAt = performance.now();
      inFlight.inc();
      // Also where the client leaves before the answer has ended.
      raw.once('close', () => {
        inFlight.dec();
        // The pattern, not the path: a label must not have a value for each location or guess.
        const route = request.routeOptions.url ?? 'none';
        const isDelivered = raw.writableFinished;
        requests.inc({ route, status: isDelivered ? raw.statusCode : 'aborted' });
        durations.observe({ route }, (performance.now() - startedAt) / 1_000);
        const price = CREDITS_OF_ROUTE[route];
        if (price !== undefined && isDelivered && raw.statusCode === 200) credits.inc({ route }, price);
      });
      done();
    });
  }

  /** `text`: OpenMetrics. */
  return { contentType: registry.contentType, watch, text: () => registry.metrics() };
}

/** The address of the metrics, on this machine only: `127.0.0.1:9464`, or the port alone. @throws USAGE for an address that other machines could reach */
export function metricsAddress(text: string) {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new PerilbookError('USAGE', `--metrics ${text} is not an address`, 'Write it like 127.0.0.1:9464.');
  }
  if (!/^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(host)) {
    const hint = 'Use 127.0.0.1 or [::1], and let an agent on this machine read it.';
    throw new PerilbookError('USAGE', `--metrics ${text} could be read from other machines`, hint);
  }
  return { host: host.replace(/[[\]]/g, ''), port: Number(port) };
}

/** Serves the metrics under `/metrics`. @throws USAGE where the address is taken */
export async function startMetricsServer(
  { host, port }: ReturnType<typeof metricsAddress>,
  { text, contentType }: ServiceMetrics,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') response.writeHead(404).end();
    else if (request.method !== 'GET') response.writeHead(405, { allow: 'GET' }).end();
    else {
      const send = (body: string) => response.writeHead(200, { 'content-type': contentType }).end(body);
      text().then(send, () => response.writeHead(500).end());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const hint = 'Choose another port: --metrics 127.0.0.1:PORT.';
      reject(new PerilbookError('USAGE', `Cannot serve metrics on ${host}:${port} (${code})`, hint));
    });
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}
