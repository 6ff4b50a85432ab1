import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { checkSent, problemText } from '../../base/schema-issues.ts';
import { reportPage, reportSections } from '../../report/html/page.ts';
import { choiceSchema, reachSchema, startSchema } from '../files/choice.ts';
import { RefusedRequest } from '../files/page-words.ts';
import { type ChosenFile, receiveUpload } from '../files/workspace.ts';
import { HEADERS } from './access.ts';
import type { UiApi } from './api.ts';
import { HTML, readAssets, readPage } from './assets.ts';

type OfFile = { readonly Params: { readonly id: string } };

/** The routes; the access check runs before them. */
export function addRoutes(app: FastifyInstance, api: UiApi, closing: AbortSignal): void {
  const { workspace, runs } = api;
  addPage(app);

  app.get('/api/about', () => api.about());
  app.get('/api/alive', () => ({ alive: true }));
  app.post('/api/key', ({ body }) =>
    api.keyRefusal(read(z.strictObject({ again: z.boolean() }), body).again),
  );

  // A form of another page could send this type without a preflight request.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser(UPLOAD_TYPE, (_request, body, done) => done(null, body));
  app.post<{ Querystring: { name?: string } }>(
    '/api/files',
    { onRequest: requireUpload },
    async (request, reply) => {
      const { body, query, headers } = request;
      const stated = headers['content-length'];
      const file = await receiveUpload(
        workspace,
        body as Readable,
        String(query.name ?? ''),
        stated === undefined ? null : Number(stated),
      );
      return reply.code(201).send(await api.showUpload(file));
    },
  );
  app.post('/api/files/named', async (request, reply) => {
    const { path } = read(z.strictObject({ path: z.string().trim().min(1) }), request.body);
    return reply.code(201).send(await api.show(await api.addPath(path)));
  });
  app.get<OfFile & { Querystring: { header?: string } }>(
    '/api/files/:id',
    ({ params, query: { header } }) =>
      api.show(api.file(params.id), header === undefined ? null : header !== 'no'),
  );
  const ask = <T>(
    path: string,
    schema: z.ZodType<T>,
    answer: (file: ChosenFile, asked: T) => Promise<unknown>,
  ) =>
    app.post<OfFile>(`/api/files/:id/${path}`, ({ params, body }) =>
      answer(api.file(params.id), read(schema, body)),
    );
  ask('choices', choiceSchema, (file, choice) => api.choices(file, choice));
  ask('price', choiceSchema, (file, choice) => api.price(file, choice));
  ask('reach', reachSchema, (file, { budget, ...choice }) => api.reach(file, choice, budget));
  ask('offer', choiceSchema, (file, choice) => api.data(file, choice, false));
  ask('download', choiceSchema, (file, choice) => api.data(file, choice, true));
  app.post<OfFile>('/api/files/:id/start', async ({ params, body }, reply) => {
    const { budget, confirmed, acceptedPrice = null, ...choice } = read(startSchema, body);
    await api.start(api.file(params.id), choice, { budget, confirmed, acceptedPrice });
    return reply.code(202).send({ started: true });
  });
  app.post<OfFile>('/api/files/:id/stop', async ({ params }, reply) => {
    runs.stop(api.file(params.id).id);
    return reply.code(202).send({ stopping: true });
  });
  app.get<OfFile>('/api/files/:id/events', async (request, reply) => {
    const file = api.file(request.params.id);
    const earlier = await api.run(file);
    sendEvents(request, reply, () => runs.update(file.id) ?? earlier, closing);
  });
  app.get<OfFile>('/api/files/:id/result', async ({ params }, reply) => {
    const output = api.outputOf(api.file(params.id));
    const stats = await stat(output).catch(() => null);
    if (stats === null)
      throw new RefusedRequest(404, 'NO_RESULT', 'There is no output yet', 'Run the file first.');
    return reply
      .header('content-disposition', attachment(basename(output)))
      .header('content-length', stats.size)
      .type('application/octet-stream')
      .send(createReadStream(output));
  });
  app.get<OfFile>('/api/files/:id/report', async ({ params }, reply) => {
    const { facts, map } = await api.report(api.file(params.id));
    return reply
      .header('content-security-policy', REPORT_POLICY)
      .type(HTML)
      .send(reportPage(facts, map));
  });
  app.get<OfFile>('/api/files/:id/sections', async ({ params }, reply) => {
    const { facts, map } = await api.report(api.file(params.id));
    return reply.type(HTML).send(reportSections(facts, map));
  });
}

/** A report names its own inline parts in its policy, and allows nothing else. This adds an origin of its own: even if a value from a file
 * became a script, it could not reach this page. */
const REPORT_POLICY = "frame-ancestors 'none'; sandbox allow-scripts allow-modals allow-downloads";

const UPLOAD_TYPE = 'application/octet-stream';

/** Refuses an upload of another content type before its body is parsed. */
async function requireUpload({ headers }: FastifyRequest): Promise<void> {
  if (headers['content-type'] === UPLOAD_TYPE) return;
  const hint = 'Reload the page.';
  throw new RefusedRequest(
    415,
    'CONTENT_TYPE',
    `The content type of an upload must be ${UPLOAD_TYPE}`,
    hint,
  );
}

function addPage(app: FastifyInstance): void {
  const assets = readAssets();
  const page = readPage();
  app.get('/', (_request, reply) =>
    reply.header('content-security-policy', page.policy).type(HTML).send(page.body),
  );
  app.get<{ Params: { name: string } }>('/assets/:name', ({ params }, reply) => {
    const asset = assets.get(params.name);
    if (!asset) throw new RefusedRequest(404, 'NO_FILE', 'Unknown path', 'Reload the page.');
    return reply.type(asset.type).send(asset.body);
  });
}

const POLL_MS = 250;
/** After a longer silence the page assumes a lost connection (assets/server.js). */
const HEARTBEAT_MS = 3_000;

/** Sends state changes as server-sent events until the page disconnects or `signal` aborts. A new page gets the current state first. */
function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => unknown,
  signal: AbortSignal,
): void {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
  let last = '';
  const poll = () => {
    const now = JSON.stringify(read());
    if (now === last || raw.writableNeedDrain) return;
    last = now;
    raw.write(`data: ${now}\n\n`);
  };
  poll();
  const polling = setInterval(poll, POLL_MS);
  const heartbeat = setInterval(() => raw.write('event: here\ndata:\n\n'), HEARTBEAT_MS);
  const end = () => {
    clearInterval(polling);
    clearInterval(heartbeat);
    signal.removeEventListener('abort', end);
    raw.end();
  };
  signal.addEventListener('abort', end, { once: true });
  request.raw.on('close', end);
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, problem } = checkSent(schema, body);
  if (problem === null) return data;
  throw new RefusedRequest(400, 'REQUEST', problemText(problem), 'Reload the page.');
}

/** RFC 6266: an ASCII name for old clients, and the whole name encoded. */
function attachment(name: string): string {
  const plain = name.replace(/[^\w .()-]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
