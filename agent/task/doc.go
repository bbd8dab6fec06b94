// Package task is the tool by which a model hands work to subagents: conversations with a context of their own,
// whose last message is the result of the call.
//
// The package has the tool's arguments, its agents, the names and limits of tasks, their progress, and the results
// in the form of oh-my-pi. What a task asks of a model and which tools it has is up to the caller, see [Group].
//
// Tasks are one level deep: a task starts no others. An agent that only reads has no tools that change anything,
// whatever the user's rules allow.
package task
