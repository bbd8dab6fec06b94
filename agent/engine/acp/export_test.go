package acp

// Bound sets small limits for an agent's messages: the text of an answer, the calls of a prompt, and their arguments.
func (e *Engine) Bound(text, calls, kept int) { e.bounds = bounds{text, calls, kept} }
