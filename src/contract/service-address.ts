/** Of the URI characters that mean the same written plainly and percent-encoded (RFC 3986, 6.2.2.2). */
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * One spelling for all spellings of a service's address: scheme and host in lower case, no default port, no dot segments,
 * no trailing slashes, percent-encoding only where it is needed and in upper case. Answers are kept under it, so that
 * another spelling does not buy them again. A text that is no http address comes back as it is.
 */
export function normalizedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return text;
  // Such an address is refused in a job. Rewritten, its secret would only be kept under another name.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return text;
  // The trailing dot of a host (`api.example.com.`) says that the name is complete; it is the same host.
  const host = url.hostname.replace(/(.)\.$/, '$1') + (url.port === '' ? '' : `:${url.port}`);
  return `${url.protocol}//${host}${normalizedPath(url.pathname)}`;
}

function normalizedPath(path: string): string {
  const encoded = path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  return encoded.replace(/\/+$/, '');
}
