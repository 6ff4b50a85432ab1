import type { TopicResult } from '../../contract/topic-values.ts';

/** A topic's value, and its JSON, made when first needed. */
export class TopicValue {
  readonly value: TopicResult['value'];
  #json: string | undefined;

  constructor(value: TopicResult['value']) {
    this.value = value;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.value);
    return this.#json;
  }
}
