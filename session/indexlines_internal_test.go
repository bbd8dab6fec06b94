package session

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// lineMaker makes random entries of a dialect.
type lineMaker struct {
	r     *rand.Rand
	d     Dialect
	twice bool // some ids are used twice
	ids   []string
	n     int
}

// id returns the id and the raw parent of the next entry.
func (m *lineMaker) id() (id, parent string) {
	m.n++
	id = fmt.Sprintf("%08x", m.n*7919)
	switch m.r.IntN(60) {
	case 0:
		id = fmt.Sprintf("named-%d", m.n)
	case 1:
		if m.twice && len(m.ids) > 0 {
			id = m.ids[m.r.IntN(len(m.ids))]
		}
	}
	if len(m.ids) == 0 {
		return id, "null"
	}
	parent = m.ids[len(m.ids)-1]
	if m.r.IntN(12) == 0 {
		parent = m.ids[m.r.IntN(len(m.ids))]
	}
	if m.r.IntN(300) == 0 {
		parent = "gone"
	}
	return id, `"` + parent + `"`
}

// recent returns the id of one of the newest entries.
func (m *lineMaker) recent(n int) string {
	if len(m.ids) == 0 {
		return "none"
	}
	return m.ids[max(0, len(m.ids)-1-m.r.IntN(n))]
}

func (m *lineMaker) line() string {
	id, parent := m.id()
	head := func(typ string) string {
		return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:%02d:%02d.000Z"`, typ, id, parent, m.n/60%60, m.n%60)
	}
	defer func() { m.ids = append(m.ids, id) }()
	if line := m.setting(head); line != "" {
		return line
	}
	return m.message(head)
}

// setting returns an entry that is no message, or garbage; "" for neither.
func (m *lineMaker) setting(head func(typ string) string) string {
	r := m.r
	switch r.IntN(36) {
	case 0:
		return head("thinking_level_change") + fmt.Sprintf(`,"thinkingLevel":"%d"}`, r.IntN(5))
	case 1:
		if m.d == Pi {
			return head("model_change") + fmt.Sprintf(`,"provider":"p","modelId":"m%d"}`, r.IntN(5))
		}
		return head("model_change") + fmt.Sprintf(`,"model":"p/m%d","role":%q}`, r.IntN(5), []string{"default", "small", "plan"}[r.IntN(3)])
	case 2:
		return head("compaction") + fmt.Sprintf(`,"summary":"s%d","firstKeptEntryId":%q,"tokensBefore":5%s}`, m.n, m.recent(12), m.extra())
	case 3:
		return head("label") + fmt.Sprintf(`,"targetId":%q,"label":"l%d"}`, m.recent(9), m.n)
	case 4:
		return head("custom") + fmt.Sprintf(`,"customType":%q,"data":{"version":%d,"text":"note %d"}}`,
			[]string{notesType, own.Description, "other"}[r.IntN(3)], 1+r.IntN(8)/7, m.n)
	case 5:
		return head("mode_change") + fmt.Sprintf(`,"mode":"m%d","data":%s}`, r.IntN(3), []string{`{"a":1}`, "null"}[r.IntN(2)])
	case 6:
		return head("ttsr_injection") + fmt.Sprintf(`,"injectedRules":["r%d","r%d"]}`, r.IntN(6), r.IntN(6))
	case 7:
		return head("mcp_tool_selection") + fmt.Sprintf(`,"selectedToolNames":["t%d"]}`, r.IntN(6))
	case 8:
		if r.IntN(3) == 0 {
			return head("session_init") + fmt.Sprintf(`,"systemPrompt":"p%d","tools":["read"]}`, m.n)
		}
		return head("branch_summary") + fmt.Sprintf(`,"summary":"b%d","fromId":"x"}`, m.n)
	case 9:
		return head("custom_message") + fmt.Sprintf(`,"customType":%q,"content":"hi %d","details":{"rules":["q%d"]},"display":true}`, []string{"c", injectionType, "interrupted-thinking"}[r.IntN(3)], m.n, m.n)
	case 10:
		return head("session_info") + fmt.Sprintf(`,"name":"title %d"}`, m.n)
	case 11:
		switch {
		case m.d == Pi:
			return head("context_edit") + fmt.Sprintf(`,"targetId":%q,"content":"e%d"}`, m.recent(6), m.n)
		case m.d == Omp && r.IntN(2) == 0:
			return head("reset_boundary") + `}`
		}
		return head("service_tier_change") + fmt.Sprintf(`,"serviceTier":"t%d"}`, r.IntN(3))
	case 12:
		return []string{"", "garbage", `{"type":"message","id":`, "[1,2]", `{"no":"type"}`, `{"a":1} {"type":"x","id":"y"}`, head("other") + `,"x":1}`, head("message") + `,"message":{"role":"odd"}}`}[r.IntN(8)]
	}
	return ""
}

// extra returns further members of a compaction.
func (m *lineMaker) extra() string {
	switch m.r.IntN(4) {
	case 0:
		return fmt.Sprintf(`,"details":{"kind":"experimental-context-rollover"},"providerReplayThroughEntryId":%q`, m.recent(20))
	case 1:
		return fmt.Sprintf(`,"preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[{}]}},"providerReplayThroughEntryId":%q`, m.recent(20))
	}
	return ""
}

func (m *lineMaker) message(head func(typ string) string) string {
	r := m.r
	if r.IntN(30) == 0 {
		return head("message") + fmt.Sprintf(`,"message":{"role":"system","toolsAdded":[{"name":"t%d"}],"timestamp":%d}}`, m.n, m.n)
	}
	switch r.IntN(3) {
	case 0:
		return head("message") + fmt.Sprintf(`,"message":{"role":"user","content":[{"type":"text","text":"say %d"}],"timestamp":%d}}`, m.n, m.n)
	case 1:
		return head("message") + fmt.Sprintf(`,"message":{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":"%s"}],"details":{"usage":{"input":%d,"cost":{"total":0.1}}},"timestamp":%d}}`,
			m.n-1, []string{"task", "read"}[r.IntN(2)], strings.Repeat("x", r.IntN(400)), r.IntN(9), m.n)
	}
	model := `"provider":"p","model":"a1",`
	if r.IntN(3) == 0 {
		model = ""
	}
	return head("message") + fmt.Sprintf(`,"message":{"role":"assistant","content":[{"type":"text","text":"a\"%d"},{"type":"toolCall","id":"c%d","name":"t%d","arguments":{}}],%s"usage":{"input":%d,"output":3,"cacheRead":0.1,"totalTokens":%d,"cost":{"total":0.0%d}},"stopReason":%q,"timestamp":%d}}`,
		m.n, m.n, r.IntN(4), model, r.IntN(99), r.IntN(99), r.IntN(9), []string{"stop", "error", "toolUse"}[r.IntN(3)], m.n)
}

// head returns the lines before the entries.
func (m *lineMaker) head() string {
	const header = `{"type":"session","version":3,"id":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}` + "\n"
	switch m.d {
	case Pi:
		return fmt.Sprintf(header, "019ce210-7893-7fb8-9a3d-1e601c115a0b")
	case Omp:
		return `{"type":"title","v":1,"title":"One","source":"auto","updatedAt":"2026-01-01T00:00:00.000Z","pad":"          "}` + "\n" +
			fmt.Sprintf(header, "019ce210-7893-7fb8-9a3d-1e601c115a0b")
	}
	return fmt.Sprintf(header, "15d7f75fe636e182")
}
