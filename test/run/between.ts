import type { TestContext } from 'node:test';
import { serveHttp } from '../fetch/servers.ts';

interface Passed {
  readonly status: number;
  readonly body: string;
}

/** What becomes of an answer on its way: the address that was asked, and the answer as the service gave it. */
export type Alter = (address: string, answer: Passed) => Passed | Promise<Passed>;

/** Stands between client and service, and hands on each request and, altered, each answer. Resolves to its address. */
export function standBetween(t: TestContext, service: string, alter: Alter): Promise<string> {
  return serveHttp(t, async (request, response) => {
    const address = request.url ?? '';
    const said = await fetch(service + address, { headers: { 'x-api-key': String(request.headers['x-api-key']) } });
    const { status, body } = await alter(address, { status: said.status, body: await said.text() });
    const cost = status === said.status ? said.headers.get('x-credit-cost') : null;
    response.writeHead(status, { 'content-type': 'application/json', 'x-credit-cost': cost ?? '0' });
    response.end(body);
  });
}

/** The answer, but for another place: paid, and of no use. */
export const forAnotherPlace = ({ status, body }: Passed): Passed => ({
  status,
  body: body.replace(/"lat":[^,]+/, '"lat":20'),
});
