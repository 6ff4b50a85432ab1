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
    const message = content.kind === 'text' ? messageOfText(content.text) : null;
    return { code: null, message, requestId: null, creditCost: undefined };
  }
  const json = content.value;
  const error = field(json, 'error');
  const errors = field(json, 'errors');
  // A list, or the sentences by parameter: `{"lat": ["is not a number"]}`.
  const [first] =
    typeof errors === 'object'
      ? Object.values((errors ?? {}) as Record<string, unknown>).flat()
      : [errors];
  const meta = field(json, 'meta');
  const inParts = (names: readonly string[], parts: readonly unknown[]) =>
    names.flatMap((name) => parts.map((part) => field(part, name)));
  const codes = inParts(['code', 'status'], [json, error, first]);
  const isCode = (value: unknown) => typeof value === 'string' && /^[\w.-]+$/.test(value);
  const messages = inParts(MESSAGE_NAMES, [error, json, first, field(json, 'fault')]);
  return {
    code: firstText([...codes.filter(isCode), error, first, ...codes], MAX_CODE),
    message: firstText(
      [...messages, error, first, json, ...codes.filter((code) => !isCode(code))],
      MAX_MESSAGE,
    ),
    requestId: findRequestId(meta) ?? findRequestId(json),
    creditCost: field(meta, 'credit_cost'),
  };
}

/** `(403 SCOPE_REQUIRED): The key lacks it`: status, code and the service's own words, without its full stop: the caller may continue. */
export function withReason(
  status: number,
  { code, message }: Pick<ErrorBody, 'code' | 'message'>,
): string {
  // `Not Found` is not a code but a sentence, which is printed after the parentheses.
  const shown = code !== null && /^[\w.-]+$/.test(code) && code !== String(status) ? code : null;
  const words = message === shown ? null : message;
  return `(${status}${shown === null ? '' : ` ${shown}`})${words === null ? '' : `: ${words.replace(/\.$/, '')}`}`;
}

/** The members in which services write a sentence: the contract names none. `title` and `detail`: RFC 9457; `error_description`: OAuth. */
const MESSAGE_NAMES = [
  ...[
    'message',
    'error_message',
    'errorMessage',
    'error_description',
    'detail',
    'description',
    'reason',
    'msg',
  ],
  ...['faultstring', 'title'],
];

/** The text of a body that is no JSON. Of an HTML page only the title says what it is; of an XML error (gateways of clouds) its message. */
function messageOfText(text: string): string | null {
  if (!text.includes('<')) return cleanText(text, MAX_MESSAGE) || null;
  const [, xml = ''] = /<(?:\w+:)?message[^>]*>([^<]+)/i.exec(text.slice(0, MOST_OF_PAGE)) ?? [];
  if (/^\s*<(?:\?xml|error)/i.test(text) && xml !== '') return cleanText(xml, MAX_MESSAGE) || null;
  const title = cleanText(
    /<title[^>]*>([^<]*)/i.exec(text.slice(0, MOST_OF_PAGE))?.[1] ?? '',
    MAX_MESSAGE,
  );
  return title === '' ? null : `a web page, "${title}"`;
}

const MOST_OF_PAGE = 20_000;

/** The service's own number of a request, for its support; null where `meta` has none. */
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
