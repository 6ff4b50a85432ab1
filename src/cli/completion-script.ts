import { LOADERS } from '../data/loaders/loader-table.ts';
import { TOPIC_NAMES } from '../job/settings/job-file.ts';

/** A command as far as it can be completed. */
export interface Completable {
  readonly name: string;
  /** The words that its first position takes; none where it takes a file. */
  readonly actions: readonly string[];
  /** With their dashes. */
  readonly options: readonly string[];
  /** Those of them that stand alone. */
  readonly bare: readonly string[];
}

/** The words that an option takes, where they can be told. */
export const OPTION_WORDS: Readonly<Record<string, readonly string[]>> = {
  '--subscription': ['starter', 'professional'],
  '--on-quota': ['stop', 'wait'],
  '--optimize': ['credits', 'calls'],
  '--order-by': ['file', 'tiv'],
  '--details': ['keep', 'drop'],
  '--coordinates': ['strict', 'lenient'],
  '--encoding': ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'],
  '--by': ['run', 'job', 'key', 'day'],
};

/** These take lists with commas between. */
const TOPIC_OPTIONS: readonly string[] = ['--topics', '-t', '--tiers'];

/**
 * What the word under the cursor may become; nothing where the shell does better by offering files.
 *
 * @param words what stands on the line behind the program's name, the last of them under the cursor
 */
export function completions(words: readonly string[], commands: readonly Completable[]): string[] {
  const current = words.at(-1) ?? '';
  const starting = (known: readonly string[]) => known.filter((word) => word.startsWith(current));
  if (words.length <= 1) return starting([...commands.map(({ name }) => name), 'help', '--help', '--version']);
  const command = commands.find(({ name }) => name === words[0]);
  if (command === undefined) return [];
  const [, option, value] = /^(--[a-z-]+)=(.*)$/.exec(current) ?? [];
  if (option !== undefined) return (valuesOf(option, value!) ?? []).map((word) => `${option}=${word}`);
  if (current.startsWith('-')) return starting([...command.options, '--help']);
  // Bash takes the sign between an option and its value for a word.
  const before = words.at(-2) === '=' ? words.at(-3)! : words.at(-2)!;
  if (before.startsWith('-') && !command.bare.includes(before)) {
    return valuesOf(before, current === '=' ? '' : current) ?? [];
  }
  if (words.length === 2) return starting(command.actions);
  return command.name === 'service' && words[1] === 'load' && words.length === 3
    ? starting(['sample', ...LOADERS.keys()])
    : [];
}

function valuesOf(option: string, begun: string): string[] | null {
  if (!TOPIC_OPTIONS.includes(option)) return OPTION_WORDS[option]?.filter((word) => word.startsWith(begun)) ?? null;
  const at = Math.max(begun.lastIndexOf(','), begun.lastIndexOf(';')) + 1;
  const [said, word] = [begun.slice(0, at), begun.slice(at)];
  const taken = said.split(/[,;]/);
  return TOPIC_NAMES.filter((name) => name.startsWith(word) && !taken.includes(name)).map((name) => said + name);
}

/** What makes a shell ask `perilbook completion --of …`. Where nothing is offered, bash and zsh offer files. */
export const COMPLETION_SCRIPT = `# Completion of perilbook for bash and zsh. Put this line into ~/.bashrc or ~/.zshrc:
#   source <(perilbook completion)
if [ -n "$ZSH_VERSION" ]; then
  _perilbook() {
    local -a found
    found=("\${(@f)$(perilbook completion --of "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found[1]" ]]; then compadd -- "\${found[@]}"; else _files; fi
  }
  compdef _perilbook perilbook
else
  _perilbook() {
    local IFS=$'\\n' before="\${COMP_WORDS[COMP_CWORD-1]}"
    COMPREPLY=($(perilbook completion --of "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    # Behind a topic may come a comma and the next one.
    case "$before" in --topics|-t|--tiers) compopt -o nospace 2>/dev/null ;; esac
  }
  complete -o bashdefault -o default -F _perilbook perilbook
fi
`;
