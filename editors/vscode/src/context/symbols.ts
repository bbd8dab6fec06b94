/** The parts of a workspace symbol that count here. */
export interface Symbol {
  name: string;
  path: string; // of its file
}

const bare = (name: string): string => name.replace(/\(.*$/, '');

/** Sorts the symbols of a search: an exact name first, then one in another case, then a beginning; the shortest first. */
export function bestSymbols<S extends Symbol>(query: string, symbols: readonly S[]): S[] {
  const rank = ({ name }: S): number => {
    const own = bare(name);
    const last = own.split(/\.|::|#/).at(-1) ?? own;
    if (own === query || last === query) return 0;
    if (own.toLowerCase() === query.toLowerCase()) return 1;
    return own.toLowerCase().startsWith(query.toLowerCase()) ? 2 : 3;
  };
  return [...symbols].sort(
    (a, b) => rank(a) - rank(b) || a.name.length - b.name.length || a.path.localeCompare(b.path),
  );
}
