/* Reads from the source which members a value has that leaves the program, with their types and docstrings. TypeScript resolves them: a
 * member may come from a base type, from `Pick`, or from what a function returns. */
import { join } from 'node:path';
import {
  API,
  type Checker,
  type Symbol as Member,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { ROOT } from '../cli/command-line.ts';

/** A value, or a shape that several values have. */
export interface Section {
  readonly title: string;
  readonly meaning: string;
  readonly rows: readonly Row[];
}

/** A member of a section, or of an object in it that has no section of its own. */
export interface Row {
  /** `missing.account.left`, `topics[].title`. */
  readonly path: string;
  readonly type: string;
  readonly meaning: string;
}

/** A value that leaves the program: its title, and the type of it that a file declares, or of a member of that type. */
export interface Told {
  readonly title: string;
  readonly file: string;
  readonly type: string;
  readonly member?: string;
  /** Its names are printed in snake case. */
  readonly isSnaked?: boolean;
}

/** Texts of which there are so many that their kind is named. */
const KINDS: readonly (readonly [kind: string, texts: readonly string[]])[] = [
  ['topic', TOPIC_SLUGS],
  ['`bundle` or topic', ['bundle', ...TOPIC_SLUGS]],
  ['error code', ERROR_CODES],
];
const MANY_TEXTS = 8;

/** The sections of the values, and after them those of the shapes that stand in several places. */
export function readSections(told: readonly Told[]): { values: Section[]; shared: Section[] } {
  const api = new API({ cwd: ROOT });
  try {
    const config = join(ROOT, 'tsconfig.build.json');
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    const { checker, program } = project!;
    const readValue = ({ file, type, member }: Told): Value => {
      const source = program.getSourceFile(join(ROOT, file))!;
      const declared = checker
        .getExportsOfModule(checker.getSymbolAtLocation(source)!)
        .find(({ name }) => name === type)!;
      const whole = checker.getDeclaredTypeOfSymbol(declared);
      if (member === undefined)
        return { type: whole, meaning: checker.getDocumentationCommentOfSymbol(declared) };
      const part = checker.getPropertyOfType(whole, member)!;
      return {
        type: checker.getTypeOfSymbol(part)!,
        meaning: checker.getDocumentationCommentOfSymbol(part),
      };
    };
    return new SectionMaker(
      checker,
      told.map((one) => ({ ...one, ...readValue(one) })),
    ).make();
  } finally {
    api.close();
  }
}

interface Value {
  readonly type: Type;
  readonly meaning: string;
}

type ToldValue = Value & Pick<Told, 'title' | 'isSnaked'>;

class SectionMaker {
  readonly #checker: Checker;
  readonly #told: readonly ToldValue[];
  /** The titles of the sections, by the names of their types. */
  readonly #titles = new Map<string, string>();
  /** How often a named type stands in others. */
  readonly #uses = new Map<string, number>();
  readonly #shared = new Map<string, ToldValue>();

  constructor(checker: Checker, told: readonly ToldValue[]) {
    this.#checker = checker;
    this.#told = told;
  }

  make(): { values: Section[]; shared: Section[] } {
    for (const { type, title } of this.#told) {
      const name = nameOf(this.#item(type) ?? type);
      if (name !== undefined && !this.#titles.has(name)) this.#titles.set(name, title);
    }
    for (const { type } of this.#told) this.#count(type);
    const values = this.#told.map((one) => this.#section(one));
    // A shared shape may have others in it: the map grows meanwhile.
    const shared = [];
    for (const one of this.#shared.values()) shared.push(this.#section(one));
    return { values, shared };
  }

  #section({ title, type, meaning, isSnaked = false }: ToldValue): Section {
    const item = this.#item(type);
    const object = item ?? type;
    const name = nameOf(object);
    const same = name === undefined ? undefined : this.#titles.get(name);
    if (same !== undefined && same !== title)
      return { title, meaning: `${meaning} The members are those of ${linkTo(same)}.`, rows: [] };
    const [base] = this.#baseOf(object);
    const inherited = new Set(base && this.#members([base]).keys());
    const own =
      base && ` It has the members of ${linkTo(this.#titles.get(nameOf(base)!)!)}, and these.`;
    const rows = this.#rows([object], '', isSnaked, inherited);
    return { title, meaning: `${meaning}${own ?? ''}`, rows };
  }

  /** Counts the named types that stand in a type. */
  #count(type: Type): void {
    for (const part of partsOf(type)) {
      const item = this.#item(part);
      if (item !== undefined) this.#count(item);
      if (item !== undefined || !isObject(part)) continue;
      const name = nameOf(part);
      const uses = this.#uses.get(name ?? '') ?? 0;
      if (name !== undefined) this.#uses.set(name, uses + 1);
      if (name !== undefined && uses > 0) continue;
      const inherited = new Set(this.#members(this.#baseOf(part)).keys());
      for (const [member, { types }] of this.#members([part]))
        if (!inherited.has(member)) for (const one of types) this.#count(one);
      for (const { valueType } of this.#checker.getIndexInfosOfType(part)) this.#count(valueType);
    }
  }

  /** The type of a list's items; undefined for what is no list. */
  #item(type: Type): Type | undefined {
    return this.#checker.isArrayType(type)
      ? this.#checker.getTypeArguments(type as never)[0]
      : undefined;
  }

  /** The base of an interface that has a section, if there is one. */
  #baseOf(type: Type): readonly Type[] {
    const bases = type.isClassOrInterface() ? this.#checker.getBaseTypes(type) : [];
    return bases.filter((base) => this.#titles.has(nameOf(base) ?? '')).slice(0, 1);
  }

  /** The members of the objects of a union: each with its types, and whether one of the objects may lack it. */
  #members(objects: readonly Type[]) {
    const members = new Map<string, { symbol: Member; types: Type[]; isOptional: boolean }>();
    for (const object of objects) {
      for (const symbol of this.#checker.getPropertiesOfType(object)) {
        const type = this.#checker.getTypeOfSymbol(symbol)!;
        const isOptional = (symbol.flags & SymbolFlags.Optional) !== 0;
        const found = members.get(symbol.name);
        if (found === undefined) members.set(symbol.name, { symbol, types: [type], isOptional });
        else {
          found.types.push(type);
          found.isOptional ||= isOptional;
        }
      }
    }
    for (const member of members.values())
      if (member.types.length < objects.length) member.isOptional = true;
    return members;
  }

  /** The rows of the members of an object, or of the objects of a union. */
  #rows(
    types: readonly Type[],
    prefix: string,
    isSnaked: boolean,
    without: ReadonlySet<string> = new Set(),
  ): Row[] {
    const objects = types.flatMap(partsOf);
    return [...this.#members(objects)]
      .filter(([name]) => !without.has(name))
      .flatMap(([name, { symbol, types: of, isOptional }]) => {
        const path = `${prefix}${isSnaked ? snake(name) : name}`;
        const parts = distinct(of.flatMap(partsOf));
        const ways = [
          ...this.#words(parts, isSnaked),
          ...(of.some(isNullable) ? ['null'] : []),
          ...(isOptional ? ['absent'] : []),
        ];
        const row = { path, type: joined(ways), meaning: this.#documentation(symbol) };
        return [row, ...this.#rowsWithin(parts, path, isSnaked)];
      });
  }

  /** The rows of the members of a member that has no section of its own. */
  #rowsWithin(parts: readonly Type[], path: string, isSnaked: boolean): Row[] {
    const items = parts.flatMap((part) => this.#item(part) ?? []);
    if (items.length > 0) return this.#rowsWithin(items.flatMap(partsOf), `${path}[]`, isSnaked);
    const objects = parts.filter((part) => isObject(part) && !this.#checker.isTupleType(part));
    if (objects.length === 0 || this.#linked(objects, isSnaked) !== undefined) return [];
    const each = this.#eachOf(objects[0]!);
    if (each === undefined) return this.#rows(objects, `${path}.`, isSnaked);
    return this.#rowsWithin(partsOf(each.type), `${path}.NAME`, isSnaked);
  }

  /** The title of the section of an object, if it has one. */
  #linked(objects: readonly Type[], isSnaked: boolean): string | undefined {
    const [type] = objects;
    const name = objects.length === 1 ? nameOf(type!) : undefined;
    if (name === undefined) return undefined;
    const title = this.#titles.get(name);
    if (title !== undefined) return title;
    if ((this.#uses.get(name) ?? 0) < 2) return undefined;
    const meaning = this.#documentation((type!.getAliasSymbol() ?? type!.getSymbol())!);
    this.#titles.set(name, name);
    this.#shared.set(name, { title: name, type: type!, meaning, isSnaked });
    return name;
  }

  /** The names of a record, and the type that all its members have; no names for any. */
  #eachOf(type: Type): { names: readonly string[]; type: Type } | undefined {
    const members = this.#checker.getPropertiesOfType(type);
    const [index] = this.#checker.getIndexInfosOfType(type);
    if (index !== undefined && members.length === 0) return { names: [], type: index.valueType };
    const types = distinct(members.map((member) => this.#checker.getTypeOfSymbol(member)!));
    const isRecord = members.every(({ declarations }) => declarations.length === 0);
    if (members.length < 2 || !isRecord || types.length > 1) return undefined;
    return { names: members.map(({ name }) => name), type: types[0]! };
  }

  /** The kinds of value that a member may be. */
  #words(parts: readonly Type[], isSnaked: boolean): string[] {
    const isText = (part: Type) => part.isStringLiteralType() || isNamedText(part);
    const objects = parts.filter((part) => isObject(part) && !this.#checker.isArrayType(part));
    const items = parts.flatMap((part) => this.#item(part) ?? []);
    const words = parts
      .filter((part) => !isText(part) && !isObject(part))
      .map((part) => this.#checker.typeToString(part))
      .map((word) => ({ string: 'text', unknown: 'any value' })[word] ?? word)
      // TypeScript knows a boolean as `false | true`.
      .toSorted((one, other) => Number(other === 'true') - Number(one === 'true'));
    return [
      ...textsOf(parts.filter(isText)),
      ...words,
      ...(objects.length === 0 ? [] : [this.#object(objects, isSnaked)]),
      ...(items.length === 0 ? [] : [this.#list(distinct(items.flatMap(partsOf)), isSnaked)]),
    ];
  }

  #list(items: readonly Type[], isSnaked: boolean): string {
    const plural = (word: string) => word.replace(/^(object|text|number|topic)$/, '$1s');
    return `list of ${joined(this.#words(items, isSnaked).map(plural))}`;
  }

  #object(objects: readonly Type[], isSnaked: boolean): string {
    const [type] = objects;
    if (this.#checker.isTupleType(type!))
      return `list of ${this.#checker.getTypeArguments(type as never).length} numbers`;
    const title = this.#linked(objects, isSnaked);
    if (title !== undefined) return linkTo(title);
    const each = this.#eachOf(type!);
    if (each === undefined) return 'object';
    const names =
      each.names.length === 0
        ? 'name'
        : joined(namesOf(isSnaked ? each.names.map(snake) : each.names));
    const values = [
      ...this.#words(partsOf(each.type), isSnaked),
      ...(isNullable(each.type) ? ['null'] : []),
    ];
    return `${joined(values)} by ${names}`;
  }

  #documentation(symbol: Member): string {
    return this.#checker.getDocumentationCommentOfSymbol(symbol).replaceAll('\n', ' ');
  }
}

const linkTo = (title: string): string => `[${title}](#${anchorOf(title)})`;

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const joined = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

function namesOf(texts: readonly string[]): string[] {
  if (texts.length <= MANY_TEXTS) return texts.map((text) => `\`${text || '""'}\``);
  const kind = KINDS.find(([, all]) => texts.every((text) => all.includes(text)));
  return [kind?.[0] ?? 'text'];
}

/** Texts, of which one may be a name that a user gives, as that of a layer. */
function textsOf(types: readonly Type[]): string[] {
  if (types.length === 0) return [];
  return namesOf(types.flatMap((type) => (type.isStringLiteralType() ? [type.value] : [])));
}

/** A text that the compiler holds apart from others: `string & { isLayer: true }`. */
const isNamedText = (type: Type): boolean =>
  type.isIntersectionType() && type.getTypes().some(({ flags }) => flags & TypeFlags.String);

const isObject = (type: Type): boolean =>
  (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0 && !isNamedText(type);

const distinct = (types: readonly Type[]): Type[] => [
  ...new Map(types.map((type) => [type.id, type])).values(),
];

const isNullable = (type: Type): boolean =>
  type.isUnionType() && type.getTypes().some(({ flags }) => (flags & TypeFlags.Null) !== 0);

/** The types of a union, without `undefined` and `null`. */
function partsOf(type: Type): readonly Type[] {
  const none = TypeFlags.Undefined | TypeFlags.Null;
  return type.isUnionType() ? type.getTypes().filter(({ flags }) => (flags & none) === 0) : [type];
}

function nameOf(type: Type): string | undefined {
  const name = (type.getAliasSymbol() ?? type.getSymbol())?.name;
  return name === undefined || name.startsWith('__') || name === 'Readonly' ? undefined : name;
}
