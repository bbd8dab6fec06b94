package agent_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// faultRow is a fault of a service in a turn, with the result that it must have for every service.
type faultRow struct {
	name    string
	replies []providertest.Reply // the last one repeats
	limits  providertest.Limits
	silent  bool // the service sends nothing more in the middle of its text

	requests int
	file     string // the messages that the session's file has
	reads    string // a part of the text that the user reads last
}

// twice are two calls of one id.
var twice = []providertest.Call{{Name: "look", ID: "same"}, {Name: "look", ID: "same"}}

var faultRows = []faultRow{
	{name: "cut before the first byte", replies: fails(providertest.CutBefore), requests: 4, file: "user, 4 × assistant:error", reads: "fake cannot be reached"},
	{name: "cut in the text", replies: fails(providertest.Cut), requests: 4, file: `user, 4 × assistant:error "I am abo…"`, reads: "the connection broke"},
	{name: "cut in a tool call", replies: fails(providertest.CutInCall), requests: 4, file: `user, 4 × assistant:error "I am abo…" look`, reads: "the connection broke"},
	{name: "cut, then complete", replies: append(fails(providertest.Cut), fine), requests: 2, file: `user, assistant:error "I am abo…", assistant:stop "Fine."`, reads: "Fine."},
	{name: "garbage event", replies: fails(providertest.BadJSON), requests: 4, file: `user, 4 × assistant:error "I am abo…"`, reads: "is incomplete"},
	{name: "empty answer", replies: []providertest.Reply{{}}, requests: 2, file: "user, 2 × assistant:error", reads: "is empty"},
	{name: "thinking only", replies: []providertest.Reply{{Thinking: "hm"}}, requests: 2, file: "user, 2 × assistant:error (thinking)", reads: "is empty"},
	{name: "400 for the content", limits: rejects("messages.3: unsupported content"), replies: []providertest.Reply{fine}, requests: 1, file: "user, assistant:error", reads: "messages.3: unsupported content"},
	{name: "401", replies: fails(providertest.BadKey), requests: 1, file: "user, assistant:error", reads: "rejected the API key"},
	{name: "429, Retry-After: 0.001", replies: limited("0.001"), requests: 4, file: "user, 4 × assistant:error", reads: "limit"},
	{name: "429, Retry-After: 3600", replies: limited("3600"), requests: 1, file: "user, assistant:error", reads: "the service asks to wait 1h0m0s"},
	{name: "500", replies: fails(providertest.ServerError), requests: 4, file: "user, 4 × assistant:error", reads: "fake"},
	{name: "529 (503)", replies: fails(providertest.OverloadedBefore), requests: 7, file: "user, 7 × assistant:error", reads: "overloaded"},
	{name: "slow, then nothing", replies: fails(providertest.Stall), silent: true, requests: 4, file: `user, 4 × assistant:error "I am abo…"`, reads: "1m0s"},
	{name: "unknown reason to stop", replies: []providertest.Reply{{Text: "Fine.", Stop: "tired"}}, requests: 1, file: `user, assistant:stop "Fine."`, reads: `unknown reason: "tired"`},
	{name: "two calls of one id", replies: []providertest.Reply{{Text: "Looking.", ToolCalls: twice}, fine}, requests: 2, file: `user, assistant:toolUse "Looking." look look, 2 × toolResult "seen", assistant:stop "Fine."`, reads: "Fine."},
	{name: "output limit in the text", replies: []providertest.Reply{{Text: "Fine", Stop: provider.StopLength}}, requests: 1, file: `user, assistant:length "Fine"`, reads: "length"},
	{name: "output limit in a call", replies: []providertest.Reply{{Text: "Looking.", ToolCalls: twice[:1], Stop: provider.StopLength}, fine}, requests: 2, file: `user, assistant:length "Looking." look, toolResult "The answ…", assistant:stop "Fine."`, reads: "Fine."},
	{name: "conversation too long", replies: fails(providertest.TooLong), requests: 1, file: "user, assistant:error", reads: "too long"},
}

var fine = providertest.Reply{Text: "Fine."}

func fails(f providertest.Fault) []providertest.Reply { return []providertest.Reply{faulty(f)} }

func limited(after string) []providertest.Reply {
	return []providertest.Reply{{Fault: providertest.RateLimited, RetryAfter: after}}
}

func rejects(reason string) providertest.Limits {
	return providertest.Limits{Reject: func(r providertest.Request) string {
		if strings.HasSuffix(r.LastText(), "again") {
			return ""
		}
		return reason
	}}
}

// TestFaultTable prints, for each fault and service, what the session's file has afterwards and what the
// user reads. Every row is compared with its definition, and the table with a golden file, so that a
// change of a text shows in a review. A service in clients has its rows here.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	apis := slices.Sorted(maps.Keys(clients))
	lines := make([]string, len(faultRows)*len(apis))
	t.Run("rows", func(t *testing.T) {
		for i, row := range faultRows {
			for j, api := range apis {
				t.Run(fmt.Sprintf("%s/%s", row.name, api), func(t *testing.T) {
					t.Parallel()
					lines[i*len(apis)+j] = row.run(t, api)
				})
			}
		}
	})
	table := []byte("fault | service | requests | the file holds | the user reads\n" + strings.Join(lines, "\n") + "\n")
	t.Logf("\n%s", table)
	path := filepath.Join("testdata", "faults.txt")
	if *update {
		require.NoError(t, os.WriteFile(path, table, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	wanted, got := strings.Split(string(want), "\n"), strings.Split(string(table), "\n")
	for i := range max(len(wanted), len(got)) {
		a, b := slices.Concat(wanted, make([]string, len(got)))[i], slices.Concat(got, make([]string, len(wanted)))[i]
		assert.Equal(t, a, b, "line %d of %s; -update writes it again", i+1, path)
	}
}

// run runs the row with one service and returns its line of the table.
func (row faultRow) run(t *testing.T, api provider.API) string {
	s := newScene(t, api)
	s.Limit("m", row.limits)
	s.Script("m", row.replies...)
	if row.silent {
		s.fallSilent()
	}
	turn, err := s.live.Prompt(t.Context(), agent.Input{Text: "hi"})
	file, reads := fileOf(s.recorded(t)), s.reads(turn, err)
	assert.Len(t, s.Requests(), row.requests)
	assert.Equal(t, row.file, file)
	assert.Contains(t, reads, row.reads)
	assert.NotContains(t, reads, "the-secret-key")
	assert.NotContains(t, reads, "127.0.0.1")
	assert.NotContains(t, reads, "\n")

	// Whatever happened, the session continues.
	s.Script("m", fine)
	for range row.requests { // those of the fault that are left
		if _, err = s.live.Prompt(t.Context(), agent.Input{Text: "again"}); err == nil {
			break
		}
	}
	if last := row.replies[len(row.replies)-1]; last.Fault == providertest.NoFault && row.reads != "is empty" {
		require.NoError(t, err)
	}
	require.NoError(t, s.Close(t.Context()))
	return strings.Join([]string{row.name, string(api), fmt.Sprint(row.requests), file, reads}, " | ")
}

// fileOf describes messages, equal ones in a row as one.
func fileOf(messages []provider.Message) string {
	var all []string
	for _, m := range messages {
		var b bytes.Buffer
		b.WriteString(m.Role)
		if m.StopReason != "" {
			b.WriteString(":" + m.StopReason)
		}
		if text := m.PlainText(); text != "" && m.Role != provider.RoleUser {
			if len(text) > 8 && !strings.HasSuffix(text, ".") || len(text) > 20 {
				text = text[:8] + "…"
			}
			fmt.Fprintf(&b, " %q", text)
		}
		for _, c := range m.ToolCalls() {
			b.WriteString(" " + c.Name)
		}
		if len(m.Content) == 1 && m.Content[0].Type == provider.TypeThinking {
			b.WriteString(" (thinking)")
		}
		all = append(all, b.String())
	}
	var out []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%d × %s", n, all[0]))
		} else {
			out = append(out, all[0])
		}
		all = all[n:]
	}
	return strings.Join(out, ", ")
}

// reads returns what the user of a turn reads, beside the answers that failed.
func (s scene) reads(turn agent.Turn, err error) string {
	var all []string
	if n := len(eventsOf[event.RetryStart](s.world)); n > 0 {
		all = append(all, fmt.Sprintf("%d × retry", n))
	}
	for _, n := range eventsOf[event.Notice](s.world) {
		all = append(all, "notice: "+n.Text)
	}
	m, _ := provider.DecodeMessage(turn.Message)
	switch {
	case err != nil:
		all = append(all, "error: "+err.Error())
	case turn.StopReason != provider.StopEnd:
		all = append(all, fmt.Sprintf("%q (%s)", m.PlainText(), turn.StopReason))
	default:
		all = append(all, fmt.Sprintf("%q", m.PlainText()))
	}
	if ends := eventsOf[event.AgentEnd](s.world); ends[0].Rejection != nil {
		var titles []string
		for _, a := range ends[0].Actions {
			titles = append(titles, a.Title)
		}
		all = append(all, "offers: "+strings.Join(titles, ", "))
	}
	return strings.Join(all, "; ")
}
