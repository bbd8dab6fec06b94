package compaction

// Question is one request to a model: a system prompt and a user prompt.
type Question struct{ System, Prompt string }

const system = `You summarize conversations between a user and a coding assistant so that another assistant can continue the work.
Do not continue the conversation and do not answer questions in it. Write the summary and nothing else.`

const format = `Use exactly this form:

## Goal
[The user's goal, or a list of goals.]

## Constraints & Preferences
- [The user's requirements and exclusions, or "(none)".]

## Progress
### Done
- [x] [Finished work.]

### In Progress
- [ ] [Current work.]

### Blocked
- [Obstacles, if any.]

## Key Decisions
- **[Decision]**: [why]

## Next Steps
1. [The next steps, in order.]
`

const criticalContext = `
## Critical Context
- [Facts, names and references that are necessary to continue, or "(none)".]
`

const precise = `
Keep each section short. Copy file paths, function names and error messages exactly.`

const firstSummary = "Summarize the conversation above. The next assistant will know only this summary.\n\n" + format + criticalContext + precise

const updateSummary = `The conversation above took place after the summary in <previous-summary> was written. Update that summary:
keep everything in it that is still true, add new information, move finished work to Done, and update Next Steps.

` + format + criticalContext + precise

const prefixSummary = `The conversation above is the beginning of a turn that is too long to keep. The end of the turn is kept unchanged. Summarize the beginning so that the end can be understood.

Use exactly this form:

## Original Request
[The user's request in this turn.]

## Early Progress
- [Actions and decisions in this part.]

## Context for the Rest
- [Information that is necessary to understand the rest.]

Keep it short.`

const updatePrefix = `The conversation above continues the beginning of a turn. The summary so far is in <previous-summary>. The end of the turn is kept unchanged.
Update that summary: keep its form, keep everything that is still true, and add the new facts.

Keep it short.`

const branchSummary = `The user has left the conversation branch above and continues on another one. Summarize the branch so that its findings are not lost.

` + format + precise

// question returns the request for a summary of a conversation.
func question(conversation, previous, instructions, focus string) Question {
	text := "<conversation>\n" + conversation + "\n</conversation>\n\n"
	if previous != "" {
		text += "<previous-summary>\n" + previous + "\n</previous-summary>\n\n"
	}
	text += instructions
	if focus != "" {
		text += "\n\nAdditional focus: " + focus
	}
	return Question{System: system, Prompt: text}
}
