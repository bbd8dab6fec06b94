package compaction

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Branch is a branch that is to be summarised when it is left.
type Branch struct {
	messages []json.RawMessage
	files    fileOps
}

const (
	branchPreamble = "The user explored a different conversation branch before returning here.\nSummary of that exploration:\n\n"

	// nothingLeft is the summary of a branch without messages.
	nothingLeft = "No content to summarize"
)

// PrepareBranch takes the entries of the abandoned branch, oldest first, as far as they fit into
// the window, the newest before the older ones.
func PrepareBranch(entries []session.Entry, window int, s Settings) *Branch {
	b := &Branch{files: newFileOps()}
	budget, used := window-s.For(window).reserve(), 0
	for _, e := range slices.Backward(entries) {
		m := branchMessage(e)
		if m == nil {
			continue
		}
		summary := role(m) == "branchSummary" || role(m) == "compactionSummary"
		tokens := Estimate(m)
		if used+tokens > budget && (!summary || used >= budget*9/10) {
			break
		}
		used += tokens
		b.messages = append(b.messages, m)
		b.files.see(m)
		if e.Type == session.TypeBranchSummary {
			if v := e.AsBranchSummary(); !v.FromExtension {
				b.files.inherit(v.Details)
			}
		}
	}
	slices.Reverse(b.messages)
	return b
}

// branchMessage returns the content of a branch's entry as a message, nil if there is nothing to
// summarise. Tool results are left out: the answers reflect them.
func branchMessage(e session.Entry) json.RawMessage {
	summary := func(role, text string) json.RawMessage {
		return new(rawjson.Object).String("role", role).String("summary", text).Bytes()
	}
	switch e.Type {
	case session.TypeMessage:
		if m := e.Message(); role(m) != "toolResult" {
			return m
		}
	case session.TypeCustomMessage:
		return new(rawjson.Object).String("role", "custom").Raw("content", rawjson.Get(e.Raw, "content")).Bytes()
	case session.TypeBranchSummary:
		return summary("branchSummary", e.AsBranchSummary().Summary)
	case session.TypeCompaction:
		return summary("compactionSummary", e.AsCompaction().Summary)
	}
	return nil
}

// Question returns the question to a model; ok is false if there is nothing to summarise.
func (b *Branch) Question(instructions string) (q Question, ok bool) {
	text := serialize(b.messages)
	if text == "" {
		return Question{}, false
	}
	return question(text, "", branchSummary, instructions), true
}

// Summary makes the summary of the answer, which is "" if there was no question.
func (b *Branch) Summary(answer string) (summary string, details json.RawMessage) {
	if answer == "" {
		return nothingLeft, b.files.details()
	}
	return branchPreamble + answer + b.files.text(), b.files.details()
}

func role(m json.RawMessage) string {
	r, _ := rawjson.GetString(m, "role")
	return r
}
