// Package serving decides which servers of the Model Context Protocol a live session has, and keeps them while their definitions
// stay the same. The client itself is package mcp.
//
//	keeper := serving.New(serving.Config{…})
//	turn := keeper.Begin(ctx, wanted)   // starts the servers, at the first prompt
//	tools := turn.Tools(ctx)            // the same in every request of the turn, unless a server announced a change
//	err := keeper.Close(ctx)            // ends the servers with everything that they started
//
// A session has the servers that the user's set-up defines for the program that wrote it, and those that a client of the
// Agent Client Protocol asks for, which take precedence by name. Which definitions may be used is decided by package setup:
// nothing of a folder that the user does not trust gets here.
package serving
