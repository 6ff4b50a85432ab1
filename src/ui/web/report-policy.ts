import { createHash } from 'node:crypto';

/**
 * The policy under which a report is shown: what stands in it inline may run, known by its hash, and nothing else; in an
 * origin of its own (sandbox), so that it could not speak to this page even if a value from a file had become a script.
 */
export function reportPolicy(html: string): string {
  const hashes = (element: 'script' | 'style') => {
    const found = html.matchAll(new RegExp(`<${element}\\b[^>]*>([\\s\\S]*?)</${element}>`, 'g'));
    return [...found].map(([, text]) => ` 'sha256-${createHash('sha256').update(text!).digest('base64')}'`).join('');
  };
  const sources = (element: 'script' | 'style') => hashes(element) || " 'none'";
  return `default-src 'none'; script-src${sources('script')}; style-src${sources('style')}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-modals`;
}
