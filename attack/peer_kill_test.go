package attack

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// kills returns how many servers TestKilledServer kills: 60, or 500 if XCSH_SOAK is set.
func kills() int {
	if os.Getenv("XCSH_SOAK") != "" {
		return 500
	}
	return 60
}

// TestKilledServer kills the language server at random moments with SIGKILL. A prompt whose message_end, or whose
// queueing, the client has read is then in a session file or among the prompts that the next server offers.
// Proves: AB-001
func TestKilledServer(t *testing.T) {
	seed := uint64(1)
	if os.Getenv("XCSH_SOAK") != "" {
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	k := &killer{r: rand.New(rand.NewPCG(seed, 0))}
	const perHome = 20 // limits the size of each home directory
	for left := kills(); left > 0; left -= perHome {
		k.home(t, min(left, perHome))
	}
	t.Logf("%d kills, %d acknowledged prompts: %d in a session file, %d offered, %d lost", k.kills, k.acks, k.filed, k.offered, k.lost)
	require.Positive(t, k.filed)
	require.Positive(t, k.offered)
	require.Zero(t, k.lost)
}

// killer starts and kills servers.
type killer struct {
	r       *rand.Rand
	prompts int // the number of prompts so far

	kills, acks, filed, offered, lost int
}

// home runs a number of kills on one machine.
func (k *killer) home(t *testing.T, rounds int) {
	v := newVictim(t)
	v.Script("m", k.replies()...)
	var owed, all []string
	for range rounds {
		ed := v.edit(lsptest.Fields{"approval": "yolo"})
		k.check(v, ed, owed)
		owed = k.round(ed)
		all = append(all, owed...)
		k.kills++
		k.acks += len(owed)
	}
	ed := v.edit(nil)
	k.check(v, ed, owed)
	// A prompt that was offered once is offered again, because none of these servers shut down cleanly.
	found := v.sessions() + strings.Join(v.offers(ed), "\n")
	for _, text := range all {
		require.Contains(t, found, text)
	}
}

// replies returns replies of every kind: immediate, late and failed, with and without tool calls.
func (k *killer) replies() (replies []providertest.Reply) {
	for range 400 {
		r := providertest.Reply{Text: "An answer."}
		switch k.r.IntN(6) {
		case 0, 1:
			r.ToolCalls = []providertest.Call{{Name: "ls", Args: map[string]any{}}}
		case 2:
			r = providertest.Reply{Fault: providertest.BadKey}
		}
		if k.r.IntN(3) > 0 {
			r.Before, r.When = k.late()
		}
		replies = append(replies, r)
	}
	return replies
}

// late delays a reply for a short time after its request.
func (k *killer) late() (before <-chan struct{}, when func(providertest.Request) bool) {
	after, c := time.Duration(k.r.IntN(12_000))*time.Microsecond, make(chan struct{})
	begin := sync.OnceFunc(func() { time.AfterFunc(after, func() { close(c) }) })
	return c, func(providertest.Request) bool {
		begin()
		return true
	}
}

// round performs a few random actions, kills the server, and returns the prompts that it acknowledged.
func (k *killer) round(ed *lsptest.Editor) (acked []string) {
	queued := map[string]string{} // maps request ids to texts
	for range 1 + k.r.IntN(7) {
		switch k.r.IntN(10) {
		case 0, 1, 2, 3:
			text := k.text()
			ed.BeginExec("xcsh.prompt", k.input(text))
			if k.r.IntN(4) > 0 {
				await(ed, func(acked []string) bool { return slices.Contains(acked, strings.TrimSpace(text)) }, queued)
			}
		case 4, 5, 6:
			text := k.text()
			p := ed.BeginExec([]string{"xcsh.steer", "xcsh.followUp"}[k.r.IntN(2)], lsptest.Fields{"text": text})
			queued[strconv.Itoa(p.ID)] = strings.TrimSpace(text)
		case 7:
			ed.BeginExec("xcsh.abort", nil)
		case 8:
			ed.BeginExec([]string{"xcsh.new", "xcsh.continue"}[k.r.IntN(2)], nil)
		case 9:
			<-time.After(time.Duration(k.r.IntN(8000)) * time.Microsecond)
		}
	}
	if k.r.IntN(2) == 0 {
		await(ed, func(acked []string) bool { return len(acked) > 0 }, queued)
	}
	<-time.After(time.Duration(k.r.IntN(3000)) * time.Microsecond)
	ed.Interrupt()
	ed.Wait()
	return acknowledged(ed, queued)
}

// text returns a unique prompt. One that begins with a space is not added to the prompt history.
func (k *killer) text() string {
	k.prompts++
	return strings.Repeat(" ", k.r.IntN(8)/7) + fmt.Sprintf("prompt-%d-end", k.prompts)
}

func (k *killer) input(text string) lsptest.Fields {
	in := lsptest.Fields{"text": text}
	if k.r.IntN(6) == 0 {
		in["images"] = []any{lsptest.Fields{"mimeType": "image/png", "data": "iVBORw0KGgo="}}
	}
	if k.r.IntN(3) == 0 {
		in["streamingBehavior"] = "steer"
	}
	return in
}

// await waits for acknowledgements, but only for a short time: a prompt may be refused.
func await(ed *lsptest.Editor, enough func(acked []string) bool, queued map[string]string) {
	for range 60 {
		if enough(acknowledged(ed, queued)) {
			return
		}
		<-time.After(500 * time.Microsecond)
	}
}

// acknowledged returns the prompts that the server acknowledged and did not return.
func acknowledged(ed *lsptest.Editor, queued map[string]string) []string {
	acked := map[string]bool{}
	for _, m := range ed.Messages() {
		var e struct {
			Event struct {
				Type    string `json:"type"`
				Message struct {
					Role    string `json:"role"`
					Content []struct {
						Text string `json:"text"`
					} `json:"content"`
				} `json:"message"`
				Unanswered []string `json:"unanswered"`
				Steering   []string `json:"steering"`
				FollowUp   []string `json:"followUp"`
			} `json:"event"`
			Unanswered []string `json:"unanswered"`
		}
		if text, ok := queued[string(m.ID)]; ok && m.Method == "" && m.Error == nil {
			acked[text] = true
		}
		_ = json.Unmarshal(m.Params, &e) // other notifications have other fields
		_ = json.Unmarshal(m.Result, &e)
		if e.Event.Type == "message_end" && e.Event.Message.Role == "user" {
			acked[strings.TrimSpace(e.Event.Message.Content[0].Text)] = true
		}
		for _, text := range slices.Concat(e.Event.Steering, e.Event.FollowUp) {
			acked[strings.TrimSpace(text)] = true
		}
		for _, text := range slices.Concat(e.Unanswered, e.Event.Unanswered) {
			delete(acked, strings.TrimSpace(text))
		}
	}
	return slices.Sorted(maps.Keys(acked))
}

// check requires that prompts are in the session files or among those that a new server offers.
func (k *killer) check(v *victim, ed *lsptest.Editor, owed []string) {
	v.t.Helper()
	sessions := v.sessions()
	offered := v.offers(ed)
	for _, text := range owed {
		switch {
		case strings.Contains(sessions, text):
			k.filed++
		case slices.Contains(offered, text):
			k.offered++
		default:
			k.lost++
			v.t.Errorf("kill %d: %q was acknowledged and is neither in a session nor offered", k.kills, text)
		}
	}
}

// offers returns the unanswered prompts that the server offers.
func (v *victim) offers(ed *lsptest.Editor) (texts []string) {
	v.t.Helper()
	raw, failure := ed.Exec("xcsh.history", lsptest.Fields{"limit": 1000})
	require.Nil(v.t, failure)
	var h struct {
		Prompts []struct {
			Prompt     string `json:"prompt"`
			Unanswered bool   `json:"unanswered"`
		} `json:"prompts"`
	}
	require.NoError(v.t, json.Unmarshal(raw, &h))
	for _, p := range h.Prompts {
		if p.Unanswered {
			texts = append(texts, strings.TrimSpace(p.Prompt))
		}
	}
	return texts
}

// sessions returns the text of all session files.
func (v *victim) sessions() string {
	v.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(v.agentDir(), "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" {
			all.WriteString(v.read(path))
		}
		return nil // a folder without sessions
	})
	require.NoError(v.t, err)
	return all.String()
}
