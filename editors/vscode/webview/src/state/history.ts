// Recall of earlier prompts with the arrow keys, as in a shell.

/** The position in the list. `at` equal to the length is the draft. */
export interface Recall {
  prompts: readonly string[];
  at: number;
  draft: string;
}

/** Starts at the draft, with the prompts oldest first; consecutive duplicates are removed. */
export function recall(prompts: readonly string[], draft: string): Recall {
  const kept = prompts.filter((p, i) => p.trim() !== '' && p !== prompts[i - 1]);
  return { prompts: kept, at: kept.length, draft };
}

/** Returns the next text in a direction, undefined if there is none. */
export function step(r: Recall, by: -1 | 1): { recall: Recall; text: string } | undefined {
  const at = r.at + by;
  if (at < 0 || at > r.prompts.length) return undefined;
  return { recall: { ...r, at }, text: at === r.prompts.length ? r.draft : r.prompts[at]! };
}
