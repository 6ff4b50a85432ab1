/** A commit's message, as git has it. */
export interface CommitMessage {
  readonly id: string;
  readonly subject: string;
  readonly body: string;
}

const LONGEST_SUBJECT = 72;

/** Verbs that look like another form: of `-s` all that end in `-ss`, too. */
const IMPERATIVES = 'Bring Ring Sing String Embed Feed Need Seed Shed Speed Bias Focus'.split(' ');

/** What is wrong with a message: CONTRIBUTING.md asks for an imperative subject of at most 72 characters, and for a reason. */
export function problemsOf({ subject, body }: CommitMessage): string[] {
  const [first = ''] = subject.split(' ');
  const otherForm = /(?:ing|ed|[^s]s)$/.test(first) && !IMPERATIVES.includes(first);
  return [
    subject.length > LONGEST_SUBJECT
      ? `the subject has ${subject.length} characters, at most ${LONGEST_SUBJECT}`
      : '',
    /:$/.test(first) ? `the subject begins with the prefix "${first}"` : '',
    !/^[A-Z]/.test(first) ? 'the subject does not begin with a capital letter' : '',
    otherForm ? `the subject does not begin with an imperative: "${first}"` : '',
    /[.!]$/.test(subject) ? 'the subject ends with a full stop' : '',
    body.trim() === '' ? 'there is no body that says why' : '',
  ].filter(Boolean);
}
