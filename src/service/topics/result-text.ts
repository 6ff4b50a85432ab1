/**
 * A topic's result as the JSON text of its two members. Results are joined as text from the database to the socket: to
 * parse and write again the features of a 6 MB bundle would take longer than to find them.
 */
export interface ResultText {
  readonly value: string;
  readonly details: string;
}

/** The text of a JSON array of ready texts. */
export function arrayText(members: readonly string[]): string {
  // Added up, not joined: the text of a whole bundle is then copied once, when it is sent.
  let text = '[';
  for (let index = 0; index < members.length; index++) text += index === 0 ? members[index]! : `,${members[index]!}`;
  return `${text}]`;
}

/** The text of a GeoJSON FeatureCollection of ready features. */
export function collectionText(features: readonly string[]): string {
  return `{"type":"FeatureCollection","features":${arrayText(features)}}`;
}
