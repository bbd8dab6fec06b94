// Package agentbase reads and writes the session files of agent-base, which keeps each
// conversation as one JSON object in ~/.agent/sessions. It does no I/O of its own: bytes
// come in, bytes go out.
//
// Two generations of that program share the directory, and [Read] knows both:
//
//	TypeScript   {"metadata": {id, name, description?, createdAt, lastActivityAt, messageCount,
//	             firstMessage, provider, model},
//	             "messages": [{role, content, name?, toolCallId?, id, timestamp, turnIndex?}],
//	             "contextSummary": "…"}
//	Python       {"name", "description", "created_at", "updated_at", "message_count",
//	             "first_message", "thread": {"messages": [{role, content, tool_calls?}], …}}
//
// Times are ISO 8601 in UTC in the first and local, without a zone, in the second. The
// directory also holds index.json, which [AddToIndex] extends, last_session and, where a
// program died, temporary files; none of them is a conversation.
//
// Reading is lenient where that loses nothing: metadata may be missing or lie, times may be
// unreadable, text may hold halves of characters, which become U+FFFD. Values that a
// [Conversation] cannot represent stay in the raw JSON beside it. Writing is strict: the
// output of [Write] is byte for byte that of the TypeScript generation.
package agentbase
