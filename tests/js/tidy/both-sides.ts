/** One list that is told in Rust and in TypeScript. */

/** A list as one side tells it. */
export interface Told {
  path: string;
  /** What the list says of each name. */
  list: ReadonlyMap<string, string>;
}

/** Names of which the sides say different things, and lists that nobody can read any more. */
export function disagreements(what: string, rust: Told, typescript: Told): string[] {
  const all = [...new Set([...rust.list.keys(), ...typescript.list.keys()])];
  const differing = all.filter((name) => rust.list.get(name) !== typescript.list.get(name));
  const tell = (name: string, { list, path }: Told) => `${list.get(name) ?? 'nothing'} in ${path}`;
  return [
    ...nothingIn(what, rust),
    ...nothingIn(what, typescript),
    ...differing.map((name) => `${name}: ${tell(name, rust)}, ${tell(name, typescript)}`),
  ];
}

/** A list that can't be read any more must not pass for an empty one. */
export function nothingIn(what: string, { path, list }: Told): string[] {
  return list.size === 0 ? [`${path}: no ${what} found`] : [];
}
