//go:build peers

package differential

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// duet is a session that another program and a live session of ours have open at the same time, both
// answered by one service.
type duet struct {
	*world
	service
	program program
	peer    *process
	live    *agent.Session
	work    string
	said    int
	own     []string // our last question and answer since we chose the branch
	counts  map[string]int
	files   map[string]string // what our turns wrote and rewinds left
	writes  []writing
}

// entryLine is what the account of a file needs of an entry.
type entryLine struct {
	ID, ParentID, Type string
	Message            struct {
		Role    string
		Content any
	}
}

func (d *duet) entries() (all []entryLine) {
	d.t.Helper()
	for raw := range strings.Lines(string(d.read(d.peer.file))) {
		var l entryLine
		require.NoError(d.t, json.Unmarshal([]byte(raw), &l), raw)
		if l.ID != "" && l.Type != "session" {
			all = append(all, l)
		}
	}
	return all
}

// texts are the texts of the prompts and answers of a duet on the path to an entry.
func (d *duet) texts(leaf string) (texts []string) {
	d.t.Helper()
	byID := map[string]entryLine{}
	for _, e := range d.entries() {
		byID[e.ID] = e
	}
	for e, ok := byID[leaf]; ok; e, ok = byID[e.ParentID] {
		if e.Message.Role == "user" || e.Message.Role == "assistant" {
			texts = append(texts, spoken(fmt.Sprint(e.Message.Content))...)
		}
	}
	slices.Reverse(texts)
	return texts
}

// spoken finds the words of a duet in a text: "we-1", "peer-2", "answer-3".
func spoken(text string) (found []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
		kind, number, ok := strings.Cut(word, "-")
		if ok && strings.Trim(number, "0123456789") == "" && slices.Contains([]string{"we", "peer", "answer"}, kind) {
			found = append(found, word)
		}
	}
	return found
}

// request are the words of the request with a prompt.
func (d *duet) request(prompt string) (words []string) {
	d.t.Helper()
	for _, r := range slices.Backward(d.Requests()) {
		if !asks(prompt)(r) {
			continue
		}
		for _, m := range r.Messages {
			words = append(words, spoken(m.PlainText())...)
		}
		return words
	}
	require.FailNow(d.t, "no request with "+prompt)
	return nil
}

// next makes a prompt and scripts its answer.
func (d *duet) next(who string) (prompt, answer string) {
	d.said++
	prompt, answer = fmt.Sprintf("%s-%d", who, d.said), fmt.Sprintf("answer-%d", d.said)
	d.Script("theirs", providertest.Reply{Text: answer, When: asks(prompt)})
	return prompt, answer
}

// asks reports of a request whether its newest prompt is prompt.
func asks(prompt string) func(r providertest.Request) bool {
	return func(r providertest.Request) bool {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == provider.RoleUser {
				return slices.Contains(spoken(m.PlainText()), prompt)
			}
		}
		return false
	}
}

// we runs a turn of ours. The model gets our branch: the path to the new prompt, which continues the
// leaf that the test expects.
func (d *duet) we() {
	d.t.Helper()
	prompt, answer := d.next("we")
	d.note("we say %s", prompt)
	_, err := d.live.Prompt(d.t.Context(), agent.Input{Text: prompt})
	require.NoError(d.t, err)
	d.counts["ours"]++
	got := append(d.request(prompt), answer)
	require.Equal(d.t, d.texts(d.leaf()), got)
	require.Subset(d.t, got, d.own, "our last question and answer, unless we chose another branch")
	d.own = []string{prompt, answer}
	require.Equal(d.t, d.own, got[len(got)-2:])
}

func (d *duet) leaf() string {
	d.t.Helper()
	state, err := d.live.State()
	require.NoError(d.t, err)
	return *state.LeafID
}

// they run a turn of the other program. Its model gets its branch.
func (d *duet) they() {
	d.t.Helper()
	prompt, answer := d.next("peer")
	d.note("they say %s", prompt)
	d.peer.prompt(prompt, answer)
	all := d.entries()
	at := slices.IndexFunc(all, func(e entryLine) bool { return slices.Contains(spoken(fmt.Sprint(e.Message.Content)), prompt) })
	require.GreaterOrEqual(d.t, at, 0)
	got := d.request(prompt)
	require.Equal(d.t, d.texts(all[at].ID), got, "what they sent is the path to their prompt")
	d.counts["theirs"]++
}

// reopen ends the other program and starts it again in the same session.
func (d *duet) reopen() {
	d.t.Helper()
	d.note("they open again")
	file := d.peer.file
	d.peer.stop()
	d.peer = startProgram(d.t, d.program, d.service, d.home(), d.work, file)
	require.Equal(d.t, file, d.peer.file)
	d.counts["reopened"]++
}

func (d *duet) home() string { return d.kit.Finder.Home }

// choose lets our user decide, if there is something to decide about.
func (d *duet) choose(c agent.BranchChoice) {
	d.t.Helper()
	b, err := d.live.ForeignBranch()
	if err != nil {
		return
	}
	d.note("we %s", c)
	_, err = d.live.ChooseBranch(d.t.Context(), b.BranchID, c)
	require.NoError(d.t, err)
	d.counts[string(c)]++
	if c == agent.FollowBranch {
		require.Equal(d.t, b.EntryID, d.leaf())
		d.own = nil
	}
}

// body is the file without omp's title slot, which omp writes in place.
func (d *duet) body() string {
	content := string(d.read(d.peer.file))
	if strings.HasPrefix(content, `{"type":"title"`) {
		_, content, _ = strings.Cut(content, "\n")
	}
	return content
}

func (d *duet) step() {
	d.t.Helper()
	before := d.body()
	switch n := d.r.IntN(10); {
	case n < 2:
		d.we()
	case n < 4:
		d.weWrite()
	case n < 6:
		d.they()
	case n < 7:
		d.weRewind()
	case n < 8:
		d.reopen()
	case n < 9:
		d.choose(agent.FollowBranch)
	default:
		d.choose(agent.StayOnBranch)
	}
	require.True(d.t, strings.HasPrefix(d.body(), before), "no byte of another program has changed")
	d.requireFiles()
}

// playDuet runs a program beside a live session of ours, with steps by chance.
func playDuet(t *testing.T, p program, steps int) {
	run(t, 1, func(w *world) {
		d := &duet{world: w, service: newService(t, provider.AnthropicMessages), program: p, work: t.TempDir(), counts: map[string]int{}, files: map[string]string{}}
		d.peer = startProgram(t, p, d.service, d.home(), d.work, "")
		prompt, answer := d.next("peer")
		d.peer.prompt(prompt, answer)
		manager, live := w.live(d.service, tool.All(tool.Options{Fs: w.kit.Finder.Fs, Home: d.home()})...)
		d.live = live
		_, err := live.Switch(t.Context(), d.peer.file)
		require.NoError(t, err)
		d.we()
		d.they()
		d.weWrite()
		for range steps {
			d.step()
		}
		d.weRewind()
		d.we()
		require.NoError(t, manager.Close(t.Context()))
		d.peer.stop()
		for _, e := range d.entries() {
			if p.name == "pi" && e.Message.Role == "assistant" {
				require.Equal(t, w.pis(d.peer.file, []any{e.ID}, false).Contexts, w.ours(d.peer.file, []any{e.ID}, false).Contexts)
			}
		}
		t.Logf("%v; %s", d.counts, filepath.Base(d.peer.file))
		require.NotZero(t, d.counts["theirs"])
		require.NotZero(t, d.counts["rewinds"])
	})
}

// The real pi, controlled over its RPC mode, and a live session of ours keep one session open.
func TestLivePi(t *testing.T) {
	t.Parallel()
	playDuet(t, piProgram, 40)
}

// The real omp does.
func TestLiveOmp(t *testing.T) {
	t.Parallel()
	playDuet(t, ompProgram, 24)
}
