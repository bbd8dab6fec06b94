package compaction

// Question is one request to a model: a system prompt and what is said to it.
type Question struct{ System, Prompt string }

const system = `You summarise conversations between a person and a coding assistant so that another assistant can go on with the work.
Do not continue the conversation and do not answer questions in it. Write the summary and nothing else.`

const format = `Use exactly this form:

## Goal
[What the person wants to achieve; several points if there are several.]

## Constraints & Preferences
- [What the person asked for or ruled out, or "(none)".]

## Progress
### Done
- [x] [What is finished.]

### In Progress
- [ ] [What is being worked on.]

### Blocked
- [What stands in the way, if anything.]

## Key Decisions
- **[Decision]**: [why]

## Next Steps
1. [What comes next, in order.]
`

const criticalContext = `
## Critical Context
- [Facts, names, references that the work cannot go on without, or "(none)".]
`

const precise = `
Keep each section short. Keep file paths, names of functions and error messages exactly as they are.`

const firstSummary = "Summarise the conversation above. The summary is all that the next assistant will know of it.\n\n" + format + criticalContext + precise

const updateSummary = `The conversation above is what happened since the summary in <previous-summary> was written. Bring that summary up to date:
keep everything in it that still holds, add what is new, move what was finished to Done, and bring Next Steps up to date.

` + format + criticalContext + precise

const prefixSummary = `The conversation above is the beginning of a turn that is too long to keep. Its end is kept as it is. Summarise the beginning so that the end can be understood.

Use exactly this form:

## Original Request
[What the person asked for in this turn.]

## Early Progress
- [What was done and decided in this part.]

## Context for the Rest
- [What must be known to understand what follows.]

Keep it short.`

const branchSummary = `Summarise the branch of a conversation above, which the person has left to go on elsewhere, so that what was learned in it is not lost.

` + format + precise

// question asks for a summary of a conversation.
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
