/** An error reply of the server. */
export class Refusal extends Error {
  constructor({ code, message, hint }) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const GONE = {
  code: 'GONE',
  message: 'Perilbook does not respond',
  hint: 'Start perilbook ui again in the terminal, and open the address that it prints. Bought answers are kept.',
};

async function ask(path, options, read = (response) => response.json()) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(GONE);
  }
  if (response.ok) return await read(response);
  const body = await response.json().catch(() => null);
  throw new Refusal(body?.error ?? GONE);
}

export const get = (path, signal) => ask(path, { signal });

export const getText = (path, signal) => ask(path, { signal }, (response) => response.text());

export const post = (path, body, signal) =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
    signal,
  });

/** Uploads a file. `fetch` reports no upload progress. */
export function upload(picked, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/files?name=${encodeURIComponent(picked.name)}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
    request.onload = () =>
      request.status < 300 ? resolve(request.response) : reject(new Refusal(request.response?.error ?? GONE));
    request.onerror = () => reject(new Refusal(GONE));
    request.send(picked);
  });
}
