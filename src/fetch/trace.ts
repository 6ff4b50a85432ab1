import { HEADERS } from '../contract/headers.ts';
import type { Exchange, HeaderMap } from './exchange.ts';
import { cleanText } from './redact.ts';

/** Names of headers whose value is secret, whatever the service calls them. */
const SECRET_NAME = /key|auth|token|secret|cookie|session|signature|password|credential/i;
const HIDDEN = '[hidden]';
const MAX_VALUE = 200;

/** A request as one line, before it is sent. */
export function requestLine(number: number, method: string, path: string, headers: HeaderMap): string {
  return `debug ${number} > ${method} ${path}  ${headerText(headers)}`;
}

/** Its answer as one line: status, time, credits as the service states them, headers; or how it failed. */
export function exchangeLine(number: number, exchange: Exchange): string {
  const took = `${Math.round(exchange.elapsedMs)} ms`;
  if (exchange.kind === 'failure') {
    const { code, reached, message } = exchange;
    const money = reached === 'never' ? 'never sent' : 'maybe charged';
    return `debug ${number} < ${code} after ${took}, ${money}: ${cleanText(message, MAX_VALUE)}`;
  }
  const { status, headers, bytes } = exchange;
  const credits = cleanText(headers[HEADERS.creditCost] ?? 'not stated', MAX_VALUE);
  return `debug ${number} < ${status} after ${took}, credits: ${credits}, ${bytes} bytes  ${headerText(headers)}`;
}

function headerText(headers: HeaderMap): string {
  return Object.entries(headers)
    .map(([name, value]) => `${cleanText(name, MAX_VALUE)}: ${shown(name, value)}`)
    .join('; ');
}

function shown(name: string, value: string): string {
  if (SECRET_NAME.test(name)) return HIDDEN;
  // After its path an address may contain anything.
  return cleanText(name === 'location' ? value.replace(/[?#].*$/s, '?…') : value, MAX_VALUE);
}
