import type { FastifyReply } from 'fastify';
import { type ErrorCode, PerilbookError } from '../../errors.ts';

/** What the page shows of an error. */
export interface ErrorMessage {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Something asked for is not there, or not now. */
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

/** An error in the words of the page; a bug of ours without its stack, which is for the terminal. */
export function errorMessageOf(error: unknown): ErrorMessage {
  if (error instanceof RefusedRequest) return error.words;
  if (error instanceof PerilbookError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: 'BUG', message: 'This is a bug of ours', hint: 'The terminal says more. Please report it.' };
}

export function statusOfError(error: unknown): number {
  if (error instanceof RefusedRequest) return error.status;
  if (error instanceof PerilbookError) return STATUS[error.code] ?? 422;
  const status = (error as { statusCode?: unknown }).statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500;
}

/** The one door by which errors leave. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const status = statusOfError(error);
  const isRequest = status < 500 && !(error instanceof RefusedRequest) && !(error instanceof PerilbookError);
  const words = isRequest
    ? { code: 'REQUEST', message: 'The request cannot be read', hint: 'Load the page again.' }
    : errorMessageOf(error);
  return reply.code(status).send({ error: words });
}
