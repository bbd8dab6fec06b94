// Recall of earlier prompts with the arrow keys, as in a shell.

/** Where the person is in the list. `at` equal to the length is the text that is being written. */
export interface Recall {
  prompts: readonly string[];
  at: number;
  draft: string;
}

/** Begins at the draft, with the prompts oldest first; what was said twice in a row is there once. */
export function recall(prompts: readonly string[], draft: string): Recall {
  const kept = prompts.filter((p, i) => p.trim() !== '' && p !== prompts[i - 1]);
  return { prompts: kept, at: kept.length, draft };
}

/** The next text in a direction, undefined when there is none. */
export function step(r: Recall, by: -1 | 1): { recall: Recall; text: string } | undefined {
  const at = r.at + by;
  if (at < 0 || at > r.prompts.length) return undefined;
  return { recall: { ...r, at }, text: at === r.prompts.length ? r.draft : r.prompts[at]! };
}
