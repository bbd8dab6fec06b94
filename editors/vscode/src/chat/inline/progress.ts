import type { SessionEvent } from '../../wire.gen';

/** What a turn is doing. */
export type Doing =
  | { readonly kind: 'thinking' | 'answering' | 'retrying' | 'compacting' }
  | { readonly kind: 'tool'; readonly name: string };

/** Returns what a turn is doing after an event; undefined if the event does not change it. */
export function doingAfter(event: SessionEvent): Doing | undefined {
  switch (event.type) {
    case 'agent_start':
    case 'turn_start':
    case 'auto_retry_end':
    case 'auto_compaction_end':
      return { kind: 'thinking' };
    case 'message_update': {
      const { type } = event.assistantMessageEvent;
      return type.startsWith('text_') ? { kind: 'answering' } : { kind: 'thinking' };
    }
    case 'tool_execution_start':
      return event.parentToolCallId === undefined ? { kind: 'tool', name: event.toolName } : undefined;
    case 'tool_execution_end':
      return event.parentToolCallId === undefined ? { kind: 'thinking' } : undefined;
    case 'auto_retry_start':
      return { kind: 'retrying' };
    case 'auto_compaction_start':
      return { kind: 'compacting' };
    default:
      return undefined;
  }
}

/** Reports whether an event can be the end of what keeps a folder busy. */
export function isEndOfWork(event: SessionEvent): boolean {
  return ['agent_end', 'auto_compaction_end', 'bash_execution_end'].includes(event.type);
}
