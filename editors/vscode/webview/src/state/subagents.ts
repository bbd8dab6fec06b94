// The subagents of a call of the tool task, with their transcripts.

import { list, num, obj, str } from './wire';

export interface Subagent {
  id: string;
  agent: string;
  status: string;
  tools: number; // calls
  tokens: number;
  last: string; // the name of its last tool, "" if none
  transcript: string; // the path of its session file, "" if it has none
}

/** Returns the subagents of a result, which is complete or the progress of a running call. */
export function subagentsOf(output: unknown): Subagent[] {
  const details = obj(obj(output).details);
  const running = list(details.progress).map(obj);
  if (running.length > 0)
    return running.map((p) => ({
      id: str(p.id),
      agent: str(p.agent),
      status: str(p.status),
      tools: num(p.toolCount),
      tokens: num(p.tokens),
      last: str(p.lastTool),
      transcript: str(p.sessionFile),
    }));
  return list(details.results).map((r) => {
    const { id, agent, aborted, exitCode, tokens, outputPath } = obj(r);
    return {
      id: str(id),
      agent: str(agent),
      status: aborted === true ? 'aborted' : num(exitCode) === 0 ? 'completed' : 'failed',
      tools: 0,
      tokens: num(tokens),
      last: '',
      transcript: str(outputPath).replace(/\.md$/, '.jsonl'),
    };
  });
}
