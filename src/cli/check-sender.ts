import { PerilbookError } from '../errors.ts';
import type { Exchange } from '../fetch/exchange.ts';
import { Broken, NotChecked } from '../service/conformance/checked-statement.ts';
import type { Reply, Send } from '../service/conformance/exchanges.ts';

/** The first limit that prevented a request. */
export interface CheckLimits {
  reached: PerilbookError | null;
}

/** So many requests in a row without an answer mean that the service is down; each may have waited two minutes. */
const DOWN_AFTER = 3;

/** Sends the requests of a service check through the client. @throws SERVICE_DOWN */
export function checkSender(
  send: (request: Parameters<Send>[0]) => Promise<Exchange>,
  baseUrl: string,
  limits: CheckLimits,
): Send {
  let unanswered = 0;
  return async (request) => {
    const exchange = await send(request).catch((error: unknown) => {
      const isLimit = error instanceof PerilbookError && ['QUOTA_EXCEEDED', 'BUDGET_REACHED'].includes(error.code);
      if (!isLimit) throw error;
      limits.reached ??= error;
      throw new NotChecked(error.message);
    });
    if (exchange.kind === 'response') {
      unanswered = 0;
      return replyOf(exchange);
    }
    unanswered++;
    if (exchange.reached === 'never' || unanswered >= DOWN_AFTER) {
      throw new PerilbookError(
        'SERVICE_DOWN',
        `Cannot reach the service at ${baseUrl}: ${exchange.message}`,
        'Check the address, and whether the service is running.',
      );
    }
    throw new Broken(exchange.message);
  };
}

function replyOf({ status, headers, content }: Extract<Exchange, { kind: 'response' }>): Reply {
  if (content.kind === 'unread') throw new Broken(`the answer is too large to read: ${content.why}`);
  return { status, headers, body: content.kind === 'json' ? content.value : null };
}
