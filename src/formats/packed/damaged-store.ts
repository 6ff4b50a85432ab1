import { PerilbookError } from '../../base/errors.ts';

/** The error for stored answers that have changed since they were written. @param store its file or address, where it is known */
export function damagedStore(what: string, store = ''): PerilbookError {
  const message = `The store ${store === '' ? '' : `${store} `}is damaged: ${what} changed since it was written`;
  const hint =
    'Put back a copy of the store. Without one, perilbook cache prune --damaged deletes what is damaged, and the next plan prices it.';
  return new PerilbookError('STORE_UNUSABLE', message, hint);
}

/** The error for a numbered text of answers that has changed. */
export function damagedText(number: number, store: string): PerilbookError {
  return damagedStore(`a text of answers (number ${number})`, store);
}
