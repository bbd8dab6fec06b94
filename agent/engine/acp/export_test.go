package acp

// Bound makes what is kept of an agent's messages small: the text of an answer, the calls of a prompt, and their arguments.
func (e *Engine) Bound(text, calls, kept int) { e.bounds = bounds{text, calls, kept} }
