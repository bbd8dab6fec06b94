package agent

// Session is one live conversation ("AgentSession").
type Session struct{}
