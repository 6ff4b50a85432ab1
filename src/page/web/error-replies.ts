import type { FastifyReply } from 'fastify';
import { type ErrorCode, PerilbookError } from '../../base/errors.ts';
import { pageMessage } from '../files/page-words.ts';

export interface ErrorMessage {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** A request that cannot be fulfilled. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly words: ErrorMessage;

  constructor(status: number, code: string, message: string, hint: string) {
    super(message);
    this.status = status;
    this.words = { code, message, hint };
  }
}

const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = { BUG: 500, NEEDS_APPROVAL: 409 };

/** Converts an error for the page. A bug's stack goes to the terminal only. */
export function makeErrorMessage(error: unknown): ErrorMessage {
  if (error instanceof RefusedRequest) return error.words;
  if (error instanceof PerilbookError) return { code: error.code, ...pageMessage(error) };
  return {
    code: 'BUG',
    message: 'This is a bug in Perilbook',
    hint: 'Please report it with the lines in the terminal.',
  };
}

export function statusOfError(error: unknown): number {
  if (error instanceof RefusedRequest) return error.status;
  if (error instanceof PerilbookError) return STATUS[error.code] ?? 422;
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/** Sends all errors. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const status = statusOfError(error);
  const isRequest = status < 500 && !(error instanceof RefusedRequest) && !(error instanceof PerilbookError);
  const words = isRequest
    ? { code: 'REQUEST', message: 'Invalid request', hint: 'Reload the page.' }
    : makeErrorMessage(error);
  return reply.code(status).send({ error: words });
}
