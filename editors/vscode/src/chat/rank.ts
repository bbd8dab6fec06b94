/** Scores how well a path matches a query: higher is better, 0 is no match. The letters must occur in order. */
export function score(query: string, path: string): number {
  if (query === '') {
    return 1;
  }
  const wanted = query.toLowerCase();
  const text = path.toLowerCase();
  const name = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  if (name === wanted) {
    return 1000;
  }
  if (name.startsWith(wanted)) {
    return 800 - name.length / 10;
  }
  if (name.includes(wanted)) {
    return 600 - name.length / 10;
  }
  if (text.includes(wanted)) {
    return 400 - text.length / 10;
  }
  return scattered(wanted, text);
}

function scattered(wanted: string, text: string): number {
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) {
      return 0;
    }
    gaps += at < 0 ? 0 : next - at - 1;
    at = next;
  }
  return Math.max(1, 200 - gaps);
}

/** Returns the best matches, best first; among equal scores, the shorter path wins. */
export function best(query: string, paths: readonly string[], count: number): string[] {
  return paths
    .map((path) => ({ path, score: score(query, path) }))
    .filter((r) => r.score > 0)
    .sort((a, b) => b.score - a.score || a.path.length - b.path.length || a.path.localeCompare(b.path))
    .slice(0, count)
    .map((r) => r.path);
}
