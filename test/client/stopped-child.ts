import { createClient } from '../../src/client/client.ts';

/** One call to the service of the first argument, with a deadline of a second; prints what came of it. */
const client = createClient({
  ...{ baseUrl: process.argv[2]!, sockets: 1, userAgent: 'test' },
  timeouts: { total: 1_000 },
});
const exchange = await client.send({
  call: { kind: 'single', topic: 'wildfire' },
  location: { lat: 40, lng: -99 },
  key: 'abcdef',
});
await client.close();
const { kind } = exchange;
process.stdout.write(
  JSON.stringify(kind === 'response' ? { kind, bytes: exchange.bytes } : exchange),
);
