// Finds the other branches at each prompt. The server folds the tree into runs, entries without branches
// between them, so that the cost follows the number of branches and not the length of the session.

import type { JsonObject } from '../../../src/chat/messages';
import { list, num, obj, str } from './wire';

/** The prompts at one position, oldest first, and the index of the current one. */
export interface Alternatives {
  ids: readonly string[];
  at: number;
}

/** An entry of the tree or, with a count, a run of entries that begins with it. */
interface Node {
  id: string;
  parentId: string;
  type: string;
  role: string;
  timestamp: string;
  count: number;
  lastId: string;
}

export interface Branches {
  alternatives: ReadonlyMap<string, Alternatives>; // by the id of a prompt
  ends: ReadonlyMap<string, string>; // the newest entry of the branch that begins with a prompt
}

export const noBranches: Branches = { alternatives: new Map(), ends: new Map() };

/** Requests xcsh.tree. */
export type ReadTree = (args: JsonObject) => Promise<unknown>;

const pageRuns = 1000;
/** A session with more runs offers no branches: a part of them would be counted wrongly. */
const maxPages = 20;
/** Entries at the beginning of a run in which its first message is searched. */
const maxBeginning = 20;
/** Runs whose beginnings are read, because they do not begin with a message. */
const maxBeginnings = 200;

// Settings, labels and branch summaries can lie between an answer and the next prompt.
const anchors = new Set(['message', 'custom_message', 'compaction']);
const isPrompt = (node: Node) => node.type === 'message' && node.role === 'user';

function nodesOf(page: unknown): Node[] {
  return list(obj(page).nodes).map((node) => {
    const { id, parentId, type, role, timestamp, count, lastId } = obj(node);
    return {
      id: str(id),
      parentId: str(parentId),
      type: str(type),
      role: str(role),
      timestamp: str(timestamp),
      count: Math.max(1, num(count)),
      lastId: str(lastId) || str(id),
    };
  });
}

/** Returns all runs, parents first; undefined if there are too many. */
async function runsOf(read: ReadTree): Promise<Node[] | undefined> {
  const runs: Node[] = [];
  const args = { fold: true, limit: pageRuns };
  let cursor = '';
  for (let i = 0; i < maxPages; i++) {
    const page = await read(cursor ? { ...args, cursor } : args);
    for (const run of nodesOf(page)) runs.push(run);
    cursor = str(obj(page).next);
    if (!cursor) return runs;
  }
  return undefined;
}

/** The first message of a run. Without one, prompts below the run follow the message above it. */
interface Beginning {
  prompt: string; // its id, if the first message is a prompt
  anchored: boolean;
}

/** Reads the beginnings of runs; undefined for those beyond the limits. */
class Beginnings {
  private left = maxBeginnings;

  constructor(private readonly read: ReadTree) {}

  async of(run: Node): Promise<Beginning | undefined> {
    const entries = [run];
    if (run.count > 1 && !anchors.has(run.type)) {
      if (this.left-- <= 0) return undefined;
      const limit = Math.min(run.count - 1, maxBeginning);
      for (const entry of nodesOf(await this.read({ under: run.id, limit }))) entries.push(entry);
    }
    const first = entries.find((entry) => anchors.has(entry.type));
    if (!first && run.count > entries.length) return undefined;
    return { prompt: first && isPrompt(first) ? first.id : '', anchored: first !== undefined };
  }
}

/** Reads the runs of the session, and finds the alternatives of every prompt that has some. */
export async function readBranches(read: ReadTree): Promise<Branches> {
  const runs = await runsOf(read);
  if (!runs || runs.length < 2) return noBranches;
  const beginnings = new Beginnings(read);
  const anchorOf = new Map<string, string>(); // the run whose last message the prompts below a run follow
  const groups = new Map<string, Map<string, Node>>(); // the prompts behind an anchor, and their runs
  const incomplete = new Set<string>(); // anchors with an unknown number of prompts
  for (const run of runs) {
    const anchor = anchorOf.get(run.parentId) ?? '';
    const begins = await beginnings.of(run);
    anchorOf.set(run.id, begins?.anchored === false ? anchor : run.id);
    if (!begins) incomplete.add(anchor).add(run.id);
    if (!begins?.prompt) continue;
    const group = groups.get(anchor) ?? new Map<string, Node>();
    groups.set(anchor, group.set(begins.prompt, run));
  }
  for (const anchor of incomplete) groups.delete(anchor);
  return { alternatives: alternativesOf(groups.values()), ends: endsOf(runs, groups.values()) };
}

function alternativesOf(groups: Iterable<ReadonlyMap<string, Node>>): Map<string, Alternatives> {
  const out = new Map<string, Alternatives>();
  for (const group of groups) {
    if (group.size < 2) continue;
    const ids = [...group].toSorted(([, a], [, b]) => a.timestamp.localeCompare(b.timestamp)).map(([prompt]) => prompt);
    ids.forEach((id, at) => out.set(id, { ids, at }));
  }
  return out;
}

/** Returns the end of the newest conversation below each prompt. */
function endsOf(runs: readonly Node[], groups: Iterable<ReadonlyMap<string, Node>>): Map<string, string> {
  const newest = new Map<string, Node>(); // the newest leaf below a run
  for (const run of runs.toReversed()) {
    const leaf = newest.get(run.id) ?? run;
    newest.set(run.id, leaf);
    const other = newest.get(run.parentId);
    // Of two equal ones, the later counts, which came first here.
    if (run.parentId && (!other || leaf.timestamp > other.timestamp)) newest.set(run.parentId, leaf);
  }
  const out = new Map<string, string>();
  for (const group of groups) for (const [prompt, run] of group) out.set(prompt, newest.get(run.id)?.lastId ?? prompt);
  return out;
}
