// Package wire holds what both sides of the Agent Client Protocol share: lines, JSON-RPC messages, the matching
// of responses to requests, and the types of the messages. Package acp is the side of the agent,
// agent/engine/acp that of the client. The package knows neither sessions nor processes.
//
// Everything that it reads comes from another program and may be of any form.
package wire
