import { exceptionAdvice, type HttpProxy } from './http-proxy.ts';

/** Why a request got no answer.
 * - `no_such_host`: DNS does not know the name, and will not in a second either. `dns_silent`: DNS gave no answer now.
 * - `unreachable`, `connect_timeout`: nothing accepts a connection. `no_tls`: what accepts it speaks no TLS.
 * - `headers_timeout`, `body_timeout`: a silence after that; `timeout`: one that the system noticed, before or after. `closed`: this side closed. `not_http`: a head that is no HTTP.
 * - `broken`: the connection ended. */
export type ConnectionFailure =
  | 'no_such_host'
  | 'dns_silent'
  | 'unreachable'
  | 'connect_timeout'
  | 'timeout'
  | 'no_tls'
  | 'headers_timeout'
  | 'body_timeout'
  | 'closed'
  | 'not_http'
  | 'broken';

const OF_CODE: ReadonlyMap<string, ConnectionFailure> = new Map<string, ConnectionFailure>(
  Object.entries({
    ENOTFOUND: 'no_such_host',
    EAI_AGAIN: 'dns_silent',
    ECONNREFUSED: 'unreachable',
    EHOSTUNREACH: 'unreachable',
    ENETUNREACH: 'unreachable',
    ETIMEDOUT: 'timeout',
    UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
    UND_ERR_HEADERS_TIMEOUT: 'headers_timeout',
    UND_ERR_BODY_TIMEOUT: 'body_timeout',
    ERR_SSL_WRONG_VERSION_NUMBER: 'no_tls',
    UND_ERR_CLOSED: 'closed',
    UND_ERR_DESTROYED: 'closed',
    UND_ERR_HEADERS_OVERFLOW: 'not_http',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not_http',
  }),
);

/** What failed, by the code of the error, or of the first where several addresses were tried. */
export function connectionFailure(error: Error): ConnectionFailure {
  const inner = firstError(error);
  // undici's words for an interim answer that it refuses; it accepts the others.
  const isContinue = errorCode(error) === 'UND_ERR_SOCKET' && error.message === 'bad response';
  if (error.name === 'HTTPParserError' || isContinue) return 'not_http';
  return OF_CODE.get(errorCode(error)) ?? OF_CODE.get(errorCode(inner)) ?? 'broken';
}

/** The code of a system or undici error; empty for none. */
export function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The words of an error. An AggregateError (several addresses tried) has an empty message of its own. */
export function failureDetail(error: Error): string {
  if (errorCode(error) === 'UND_ERR_SOCKET' && error.message === 'bad response')
    return 'it begins with 100 Continue, which nobody asked for';
  return error.message || firstError(error).message || errorCode(error) || error.name;
}

function firstError(error: Error): Error {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first instanceof Error ? first : error;
}

/** What kept a request from leaving this machine, where a proxy is on the way. @param target what could not be reached: `the service` */
export function explainProxy(way: HttpProxy, error: Error, target: string): string {
  const { name, variable } = way;
  const advice = exceptionAdvice(way).replace(/^./, '. $&');
  const proxy = `The proxy ${name} (${variable})`;
  const detail = failureDetail(error);
  const [, status] = /^Proxy response \((\d+)\)/.exec(detail) ?? /\((407)\)$/.exec(detail) ?? [];
  if (status === '407')
    return `${proxy} demands a user and a password (407): http://USER:PASSWORD@${name}`;
  if (status !== undefined)
    return `${proxy} gives no way to ${target} (${status}); NO_PROXY names hosts without a proxy${advice}`;
  return `Cannot connect to ${target} through the proxy ${name} (${variable}): ${detail}${advice}`;
}
