import { createHash } from 'node:crypto';

/**
 * The content security policy of a report: its inline scripts and styles by their hashes, nothing else. The sandbox gives it
 * an origin of its own, so that it could not reach this page even if a value from a file had become a script.
 */
export function reportPolicy(html: string): string {
  const hashes = (element: 'script' | 'style') => {
    const found = html.matchAll(new RegExp(`<${element}\\b[^>]*>([\\s\\S]*?)</${element}>`, 'g'));
    return [...found].map(([, text]) => ` 'sha256-${createHash('sha256').update(text!).digest('base64')}'`).join('');
  };
  const sources = (element: 'script' | 'style') => hashes(element) || " 'none'";
  return `default-src 'none'; script-src${sources('script')}; style-src${sources('style')}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-modals allow-downloads`;
}
