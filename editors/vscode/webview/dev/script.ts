// Building blocks of scripted sessions.

import type { PlayedSession } from './session';

export interface AgentEvent {
  type: string;
  [member: string]: unknown;
}

export const text = (t: string) => ({ type: 'text', text: t });
export const thinking = (t: string) => ({ type: 'thinking', thinking: t });
export const call = (id: string, name: string, args: object) => ({ type: 'toolCall', id, name, arguments: args });
export const user = (t: string, ...more: object[]) => ({ role: 'user', content: [text(t), ...more], timestamp: 0 });

export function answer(content: object[], more: object = {}): { [key: string]: unknown } {
  const usage = {
    input: 1200,
    output: 340,
    cacheRead: 28_000,
    cacheWrite: 900,
    totalTokens: 30_440,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.0214 },
  };
  return {
    role: 'assistant',
    content,
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    usage,
    stopReason: 'stop',
    timestamp: 0,
    ...more,
  };
}

export const result = (id: string, name: string, t: string, more: object = {}) => ({
  role: 'toolResult',
  toolCallId: id,
  toolName: name,
  content: [text(t)],
  isError: false,
  timestamp: 0,
  ...more,
});

/** Splits a text like a provider streams it. */
export function pieces(t: string): string[] {
  return t.match(/\S+\s*|\s+/g) ?? [];
}

/** Yields the events of a growing text block, without its end if `open`. */
export function* grow(index: number, kind: 'text' | 'thinking', t: string, open = false): Generator<AgentEvent> {
  for (const delta of pieces(t))
    yield { type: 'message_update', assistantMessageEvent: { type: `${kind}_delta`, contentIndex: index, delta } };
  if (!open)
    yield {
      type: 'message_update',
      assistantMessageEvent: {
        type: `${kind}_end`,
        contentIndex: index,
        block: kind === 'text' ? text(t) : thinking(t),
      },
    };
}

export function* growCall(index: number, block: ReturnType<typeof call>): Generator<AgentEvent> {
  yield {
    type: 'message_update',
    assistantMessageEvent: { type: 'toolcall_start', contentIndex: index, toolCallId: block.id, toolName: block.name },
  };
  yield {
    type: 'message_update',
    assistantMessageEvent: { type: 'toolcall_delta', contentIndex: index, delta: JSON.stringify(block.arguments) },
  };
  yield {
    type: 'message_update',
    assistantMessageEvent: {
      type: 'toolcall_end',
      contentIndex: index,
      toolCallId: block.id,
      toolName: block.name,
      block,
    },
  };
}

/** Yields all events of one answer. */
export function* answering(message: { [key: string]: unknown }): Generator<AgentEvent> {
  yield { type: 'message_start', message: { ...message, content: [] } };
  for (const [i, b] of (message['content'] as { type: string; text?: string; thinking?: string }[]).entries()) {
    if (b.type === 'toolCall') yield* growCall(i, b as ReturnType<typeof call>);
    else yield* grow(i, b.type as 'text' | 'thinking', b.text ?? b.thinking ?? '');
  }
  yield { type: 'message_end', message };
}

export function* saying(message: object): Generator<AgentEvent> {
  yield { type: 'message_start', message };
  yield { type: 'message_end', message };
}

export function play(s: PlayedSession, events: Iterable<AgentEvent>): void {
  for (const e of events) s.emit(e);
}
