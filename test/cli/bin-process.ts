import { type ChildProcess, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { serveHttp } from '../client/servers.ts';
import { releaseLater } from '../service/small-data.ts';
import { ROOT } from './command-line.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;

export interface BinEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Bin {
  readonly ended: Promise<BinEnd>;
  readonly isRunning: boolean;
  kill(signal: NodeJS.Signals): void;
  /** What stderr holds so far. */
  text(): string;
  /** Resolves when stderr holds the text; rejects when the process ends without having said it. */
  said(text: string): Promise<void>;
}

interface BinOptions {
  readonly stdin?: number | 'ignore';
  readonly stdout?: number | 'pipe';
  /** What the shell does that becomes the bin. */
  readonly shell?: string | null;
  /** The reader of its words goes at their first bytes. */
  readonly readsOnce?: boolean;
}

/** Starts the bin as its user does, in a process of its own that does not outlive the test. */
export function startBin(
  t: TestContext,
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
  { stdin = 'ignore', stdout = 'pipe', shell = null, readsOnce = false }: BinOptions = {},
): Bin {
  const command = [process.execPath, join(ROOT, 'src/main.ts'), ...args];
  const [file, ...words] =
    shell === null ? command : ['bash', '-c', `${shell} exec "$0" "$@"`, ...command];
  const child: ChildProcess = spawn(file!, words, {
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder, XDG_DATA_HOME: folder, ...env },
    stdio: [stdin, stdout, 'pipe'],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString();
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr!.on('data', (chunk: Buffer) => err.push(chunk));
  if (readsOnce) child.stderr!.once('data', () => child.stderr!.destroy());
  const ended = new Promise<BinEnd>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: text(out), stderr: text(err) }),
    );
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  releaseLater(t, async () => {
    if (isRunning()) child.kill('SIGKILL');
    await ended;
  });
  return {
    ended,
    get isRunning() {
      return isRunning();
    },
    kill: (signal) => child.kill(signal),
    text: () => text(err),
    async said(words) {
      if (text(err).includes(words)) return;
      await new Promise<void>((resolve, reject) => {
        child.stderr!.on('data', () => text(err).includes(words) && resolve());
        ended.then(
          ({ stderr }) =>
            reject(new Error(`It ended without ${JSON.stringify(words)}:\n${stderr}`)),
          reject,
        );
      });
    },
  };
}

/** `answer`: asks the service and gives its answer. `lose`: asks the service and keeps its answer. `hold`: neither. */
export type Passage = 'answer' | 'lose' | 'hold';

/** A way to a service that lets requests pass as the test wants; the first is number 1. */
export async function gateBefore(
  t: TestContext,
  service: string,
  passage: (number: number) => Passage,
) {
  let come = 0;
  let waiting: { requests: number; resolve: () => void }[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const how = passage(++come);
    if (how !== 'hold') {
      const key = request.headers['x-api-key'];
      const answer = await fetch(service + request.url, {
        headers: key === undefined ? {} : { 'x-api-key': String(key) },
      });
      const body = await answer.text();
      if (how === 'answer') {
        const headers = [...answer.headers].filter(([name]) =>
          /^x-|^content-type$|^retry-after$/.test(name),
        );
        response.writeHead(answer.status, Object.fromEntries(headers)).end(body);
      }
    }
    for (const { resolve } of waiting.filter(({ requests }) => come >= requests)) resolve();
    waiting = waiting.filter(({ requests }) => come < requests);
  };
  const url = await serveHttp(t, (request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  return {
    url,
    /** Requests that have come. */
    get come() {
      return come;
    },
    /** Resolves when as many requests have come. */
    reached: (requests: number): Promise<void> =>
      come >= requests
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ requests, resolve })),
  };
}
