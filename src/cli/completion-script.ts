import { LOADERS } from '../data/loaders/loader-table.ts';
import { TOPIC_NAMES } from '../job/settings/job-file.ts';
import { type Command, dashed, nameOfCommand, optionNames } from './command.ts';

/** The values of options that take one of a few. */
export const OPTION_WORDS: Readonly<Record<string, readonly string[]>> = {
  '--subscription': ['starter', 'professional'],
  '--on-quota': ['stop', 'wait'],
  '--optimize': ['credits', 'calls'],
  '--order-by': ['file', 'tiv'],
  '--details': ['keep', 'drop'],
  '--coordinates': ['strict', 'lenient'],
  '--encoding': ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'],
  '--log': ['text', 'json'],
  '--by': ['run', 'job', 'key', 'day'],
};

/** These take lists with commas between. */
const TOPIC_OPTIONS: readonly string[] = ['--topics', '-t', '--tiers'];

/**
 * The possible completions of the last word. Empty where the shell should offer files: yargs' own completion never does,
 * and knows nothing of lists with commas.
 *
 * @param words the command line without the program's name; the last one is under the cursor
 */
export function completions(words: readonly string[], commands: readonly Command[]): string[] {
  const current = words.at(-1) ?? '';
  const starting = (known: readonly string[]) => known.filter((word) => word.startsWith(current));
  if (words.length <= 1) return starting([...commands.map(nameOfCommand), 'help', '--help', '--version']);
  const command = commands.find((one) => nameOfCommand(one) === words[0]);
  if (command === undefined) return [];
  const [, option, value] = /^(--[a-z-]+)=(.*)$/.exec(current) ?? [];
  if (option !== undefined) return (valuesOf(option, value!) ?? []).map((word) => `${option}=${word}`);
  const options = Object.entries(command.options ?? {});
  if (current.startsWith('-')) return starting([...options.map(([name]) => dashed(name)), '--help']);
  // Bash makes three words of --option=value.
  const before = words.at(-2) === '=' ? words.at(-3)! : words.at(-2)!;
  const bare = optionNames(Object.fromEntries(options.filter(([, { type }]) => type === 'boolean'))).map(dashed);
  if (before.startsWith('-') && !bare.includes(before)) return valuesOf(before, current === '=' ? '' : current) ?? [];
  if (words.length === 2) return starting(command.positionals?.action?.choices ?? []);
  const isLoad = words[0] === 'data' && words[1] === 'load' && words.length === 3;
  return isLoad ? starting(['sample', ...LOADERS.keys()]) : [];
}

function valuesOf(option: string, begun: string): string[] | null {
  if (!TOPIC_OPTIONS.includes(option)) return OPTION_WORDS[option]?.filter((word) => word.startsWith(begun)) ?? null;
  const at = Math.max(begun.lastIndexOf(','), begun.lastIndexOf(';')) + 1;
  const [said, word] = [begun.slice(0, at), begun.slice(at)];
  const taken = said.split(/[,;]/);
  return TOPIC_NAMES.filter((name) => name.startsWith(word) && !taken.includes(name)).map((name) => said + name);
}

/** Lets a shell ask `perilbook completion --of …`. Where that prints nothing, bash and zsh offer files. */
export const COMPLETION_SCRIPT = `# Completion for perilbook in bash and zsh. Add this line to ~/.bashrc or ~/.zshrc:
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
    # A comma and another topic may follow.
    case "$before" in --topics|-t|--tiers) compopt -o nospace 2>/dev/null ;; esac
  }
  complete -o bashdefault -o default -F _perilbook perilbook
fi
`;
