import { createServer } from 'node:http';
import { PerilbookError } from '../../base/errors.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** The address of the metrics, on this machine only. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** `127.0.0.1:9464`, or the port alone. @throws USAGE for an address that other machines could reach */
export function metricsAddress(text: string): MetricsAddress {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new PerilbookError('USAGE', `--metrics ${text} is not an address`, 'Write it like 127.0.0.1:9464.');
  }
  if (!/^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(host)) {
    throw new PerilbookError(
      'USAGE',
      `--metrics ${text} could be read from other machines`,
      'Use 127.0.0.1 or [::1], and let an agent on this machine read it.',
    );
  }
  return { host: host.replace(/[[\]]/g, ''), port: Number(port) };
}

export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves the metrics under `/metrics`. @throws USAGE where the address is taken */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  { text, contentType }: ServiceMetrics,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') response.writeHead(404).end();
    else if (request.method !== 'GET') response.writeHead(405, { allow: 'GET' }).end();
    else
      text().then(
        (body) => response.writeHead(200, { 'content-type': contentType }).end(body),
        () => response.writeHead(500).end(),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new PerilbookError(
          'USAGE',
          `Cannot serve metrics on ${host}:${port} (${error.code})`,
          'Choose another port: --metrics 127.0.0.1:PORT.',
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  const shown = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${shown}/metrics`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}
