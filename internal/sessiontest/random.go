package sessiontest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The programs whose entries a [Random] makes, as package session numbers its dialects.
const (
	xcsh = iota
	pi
	omp
)

// Random makes the lines of random sessions of a program, with branches, orphans, garbage and entries of every kind.
type Random struct {
	Rand    *rand.Rand
	Dialect int      // xcsh, pi or omp: 0, 1 or 2
	Twice   bool     // some ids are used twice
	IDs     []string // of the entries so far
	N       int      // the number of calls of Line
	CWD     string   // of the header; "/p" if empty
}

// id returns the id and the raw parent of the next entry.
func (m *Random) id() (id, parent string) {
	m.N++
	id = fmt.Sprintf("%08x", m.N*7919)
	switch m.Rand.IntN(60) {
	case 0:
		id = fmt.Sprintf("named-%d", m.N)
	case 1:
		if m.Twice && len(m.IDs) > 0 {
			id = m.IDs[m.Rand.IntN(len(m.IDs))]
		}
	}
	if len(m.IDs) == 0 {
		return id, "null"
	}
	parent = m.IDs[len(m.IDs)-1]
	if m.Rand.IntN(12) == 0 {
		parent = m.IDs[m.Rand.IntN(len(m.IDs))]
	}
	switch m.Rand.IntN(300) {
	case 0:
		parent = "gone"
	case 1:
		return id, "null"
	}
	return id, `"` + parent + `"`
}

// recent returns the id of one of the newest entries.
func (m *Random) recent(n int) string {
	if len(m.IDs) == 0 {
		return "none"
	}
	return m.IDs[max(0, len(m.IDs)-1-m.Rand.IntN(n))]
}

// Line returns the next entry without its newline, or garbage.
func (m *Random) Line() string {
	id, parent := m.id()
	head := func(typ string) string {
		return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:%02d:%02d.000Z"`, typ, id, parent, m.N/60%60, m.N%60)
	}
	defer func() { m.IDs = append(m.IDs, id) }()
	if line := m.setting(head); line != "" {
		return line
	}
	return m.message(head)
}

// setting returns an entry that is no message, or garbage; "" for neither.
func (m *Random) setting(head func(typ string) string) string {
	r := m.Rand
	switch r.IntN(36) {
	case 0:
		return head("thinking_level_change") + fmt.Sprintf(`,"thinkingLevel":"%d"}`, r.IntN(5))
	case 1:
		if m.Dialect == pi {
			return head("model_change") + fmt.Sprintf(`,"provider":"p","modelId":"m%d"}`, r.IntN(5))
		}
		return head("model_change") + fmt.Sprintf(`,"model":"p/m%d","role":%q}`, r.IntN(5), []string{"default", "small", "plan"}[r.IntN(3)])
	case 2:
		return head("compaction") + fmt.Sprintf(`,"summary":"s%d","firstKeptEntryId":%q,"tokensBefore":5%s}`, m.N, m.recent(12), m.extra())
	case 3:
		return head("label") + fmt.Sprintf(`,"targetId":%q,"label":"l%d"}`, m.recent(9), m.N)
	case 4:
		return head("custom") + fmt.Sprintf(`,"customType":%q,"data":{"version":%d,"text":"note %d"}}`,
			[]string{"experimental_context_notes", "xcsh-ls.description", "other"}[r.IntN(3)], 1+r.IntN(8)/7, m.N)
	case 5:
		return head("mode_change") + fmt.Sprintf(`,"mode":"m%d","data":%s}`, r.IntN(3), []string{`{"a":1}`, "null"}[r.IntN(2)])
	case 6:
		return head("ttsr_injection") + fmt.Sprintf(`,"injectedRules":["r%d","r%d"]}`, r.IntN(6), r.IntN(6))
	case 7:
		return head("mcp_tool_selection") + fmt.Sprintf(`,"selectedToolNames":["t%d"]}`, r.IntN(6))
	case 8:
		if r.IntN(3) == 0 {
			return head("session_init") + fmt.Sprintf(`,"systemPrompt":"p%d","tools":["read"]}`, m.N)
		}
		return head("branch_summary") + fmt.Sprintf(`,"summary":"b%d","fromId":"x"}`, m.N)
	case 9:
		return head("custom_message") + fmt.Sprintf(`,"customType":%q,"content":"hi %d","details":{"rules":["q%d"]},"display":true}`,
			[]string{"c", "ttsr-injection", "interrupted-thinking"}[r.IntN(3)], m.N, m.N)
	case 10:
		return head("session_info") + fmt.Sprintf(`,"name":"title %d"}`, m.N)
	case 11:
		return m.special(head)
	case 12:
		return []string{"", "garbage", `{"type":"message","id":`, "[1,2]", `{"no":"type"}`, `{"a":1} {"type":"x","id":"y"}`, head("other") + `,"x":1}`, head("message") + `,"message":{"role":"odd"}}`}[r.IntN(8)]
	}
	return ""
}

// special returns an entry that only some programs write and understand, often one of the session's own program.
func (m *Random) special(head func(typ string) string) string {
	kind := m.Rand.IntN(8)
	if own := kind - 4; own >= 0 {
		kind = map[int]int{xcsh: own, pi: 0, omp: 1}[m.Dialect]
	}
	switch kind {
	case 0:
		return head("context_edit") + fmt.Sprintf(`,"targetId":%q%s}`, m.recent(6), []string{"", `,"replacement":{"content":"edited"}`, `,"replacement":null`}[m.Rand.IntN(3)])
	case 1:
		return head("reset_boundary") + `}`
	case 2:
		return head("context_change") + fmt.Sprintf(`,"contextName":"c%d","tenant":"t"}`, m.N)
	}
	return head("service_tier_change") + fmt.Sprintf(`,"serviceTier":"t%d"}`, m.Rand.IntN(3))
}

// extra returns further members of a compaction.
func (m *Random) extra() string {
	switch m.Rand.IntN(4) {
	case 0:
		return fmt.Sprintf(`,"details":{"kind":"experimental-context-rollover"},"providerReplayThroughEntryId":%q`, m.recent(20))
	case 1:
		return fmt.Sprintf(`,"preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[{}]}},"providerReplayThroughEntryId":%q`, m.recent(20))
	}
	return ""
}

func (m *Random) message(head func(typ string) string) string {
	r := m.Rand
	if r.IntN(30) == 0 {
		return head("message") + fmt.Sprintf(`,"message":{"role":"system","toolsAdded":[{"name":"t%d"}],"timestamp":%d}}`, m.N, m.N)
	}
	switch r.IntN(3) {
	case 0:
		return head("message") + fmt.Sprintf(`,"message":{"role":"user","content":[{"type":"text","text":"say %d"}],"timestamp":%d}}`, m.N, m.N)
	case 1:
		return head("message") + fmt.Sprintf(`,"message":{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":"%s"}],"details":{"usage":{"input":%d,"cost":{"total":0.1}}},"timestamp":%d}}`,
			m.N-1, []string{"task", "read"}[r.IntN(2)], strings.Repeat("x", r.IntN(400)), r.IntN(9), m.N)
	}
	model := `"provider":"p","model":"a1",`
	if r.IntN(3) == 0 {
		model = ""
	}
	return head("message") + fmt.Sprintf(`,"message":{"role":"assistant","content":[{"type":"text","text":"a\"%d"},{"type":"toolCall","id":"c%d","name":"t%d","arguments":{}}],%s"usage":{"input":%d,"output":3,"cacheRead":0.1,"totalTokens":%d,"cost":{"total":0.0%d}},"stopReason":%q,"timestamp":%d}}`,
		m.N, m.N, r.IntN(4), model, r.IntN(99), r.IntN(99), r.IntN(9), []string{"stop", "error", "toolUse"}[r.IntN(3)], m.N)
}

// Head returns the lines before the entries.
func (m *Random) Head() string {
	const header = `{"type":"session","version":3,"id":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}` + "\n"
	cwd := cmp.Or(m.CWD, "/p")
	switch m.Dialect {
	case pi:
		return fmt.Sprintf(header, "019ce210-7893-7fb8-9a3d-1e601c115a0b", cwd)
	case omp:
		return `{"type":"title","v":1,"title":"One","source":"auto","updatedAt":"2026-01-01T00:00:00.000Z","pad":"          "}` + "\n" +
			fmt.Sprintf(header, "019ce210-7893-7fb8-9a3d-1e601c115a0b", cwd)
	}
	return fmt.Sprintf(header, "15d7f75fe636e182", cwd)
}
