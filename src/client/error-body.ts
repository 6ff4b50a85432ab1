import type { Content } from './content.ts';
import { cleanText } from './redact.ts';

/** Longest message of the service that is shown to a user. */
export const MAX_MESSAGE = 200;
const MAX_CODE = 60;
const MAX_REQUEST_ID = 100;

/** The content of an error body; `null` for what it does not state. */
export interface ErrorBody {
  readonly code: string | null;
  readonly message: string | null;
  readonly requestId: string | null;
  /** `credit_cost` as stated; the contract promises 0 here. */
  readonly creditCost: unknown;
}

/** Reads an error body of any shape: the contract shows none, so the places that services use are tried in turn. */
export function readErrorBody(content: Content): ErrorBody {
  if (content.kind !== 'json') {
    // An HTML page is no message.
    const isMessage = content.kind === 'text' && !content.text.includes('<');
    const message = isMessage ? cleanText(content.text, MAX_MESSAGE) || null : null;
    return { code: null, message, requestId: null, creditCost: undefined };
  }
  const json = content.value;
  const error = field(json, 'error');
  const errors = field(json, 'errors');
  const first = Array.isArray(errors) ? (errors[0] as unknown) : undefined;
  const meta = field(json, 'meta');
  const messages = [error, json, first].map((part) => field(part, 'message'));
  return {
    code: firstText([field(json, 'code'), field(error, 'code'), error, field(first, 'code'), first], MAX_CODE),
    message: firstText([...messages, field(json, 'detail'), error, first, json], MAX_MESSAGE),
    requestId: findRequestId(meta) ?? findRequestId(json),
    creditCost: field(meta, 'credit_cost'),
  };
}

/** The request's identifier, from an envelope's `meta`. */
export function findRequestId(meta: unknown): string | null {
  return firstText([field(meta, 'request_id')], MAX_REQUEST_ID);
}

/** A member of what may be an object; only its own, never one of its prototype. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function firstText(values: readonly unknown[], most: number): string | null {
  for (const value of values) {
    const text = typeof value === 'string' ? cleanText(value, most) : '';
    if (text !== '') return text;
  }
  return null;
}
