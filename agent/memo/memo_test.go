package memo_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// wire is a service that refuses every request and keeps its bytes.
type wire struct{ sent string }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	w.sent = r.URL.String() + "\n" + string(body)
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, err
}

// services returns a client of each wire format.
func (w *wire) services() map[provider.API]provider.Provider {
	o := guard.Options{Transport: w, Idle: -1}
	none := func(string) string { return "" }
	return map[provider.API]provider.Provider{
		provider.AnthropicMessages: anthropic.New(o), provider.OpenAICompletions: openai.NewCompletions(o),
		provider.OpenAIResponses: openai.NewResponses(o), provider.AzureResponses: openai.NewAzure(o, none),
		provider.GoogleGenerativeAI: gemini.New(o), provider.BedrockConverse: bedrock.New(o, none),
	}
}

var apis = []provider.API{
	provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses,
	provider.AzureResponses, provider.GoogleGenerativeAI, provider.BedrockConverse,
}

// talk is a session that changes at random, and its memo.
type talk struct {
	t      *testing.T
	rand   *rand.Rand
	fs     afero.Fs
	log    *session.Log
	memo   *memo.Conversation
	fitter *imaging.Fitter
	wire   *wire
	apis   map[provider.API]provider.Provider

	model   provider.Model
	without memo.Without
	ids     []string
	n       int

	older    []session.Context
	returned [][]provider.Message // earlier requests, …
	encoded  []string             // … and what they were
}

func newTalk(t *testing.T, seed uint64, dialect session.Dialect) *talk {
	t.Helper()
	fs := afero.NewMemMapFs()
	store := session.NewStore(session.StoreConfig{
		Fs: fs, DirFor: func(string) (string, error) { return "/s", nil },
		RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true },
	})
	log, err := store.Create("/w", session.NewOptions{})
	require.NoError(t, err)
	require.NoError(t, log.EnsureOnDisk())
	log.Hold()()
	w := new(wire)
	k := &talk{
		t: t, rand: rand.New(rand.NewPCG(seed, 3)), fs: fs, log: log, memo: memo.New(new(imaging.Fitter)),
		fitter: new(imaging.Fitter), wire: w, apis: w.services(),
	}
	k.choose()
	return k
}

// choose chooses another model.
func (k *talk) choose() {
	api := apis[k.rand.IntN(len(apis))]
	if k.model.API != "" && k.rand.IntN(2) == 0 {
		api = k.model.API
	}
	k.model = provider.Model{
		ID: "m", Provider: "openai", API: api, BaseURL: "https://service.example/" + string(api), Reasoning: k.rand.IntN(2) == 0,
		Input: []string{"text", "image"}[:1+k.rand.IntN(2)], ContextWindow: 200_000, MaxTokens: 32_000,
	}
}

func (k *talk) call() string {
	return []string{"call_1", "call_2", "call_3|fc_1", "call_3|fc_2", "toolu_" + strings.Repeat("x", 70), ""}[k.rand.IntN(6)]
}

func (k *talk) content() string {
	k.n++
	text := fmt.Sprintf(`{"type":"text","text":"text %d <b>"}`, k.n)
	switch k.rand.IntN(8) {
	case 0:
		return text + fmt.Sprintf(`,{"type":"image","mimeType":"image/png","data":"%s"}`, base64.StdEncoding.EncodeToString([]byte(fmt.Sprint("png", k.n))))
	case 1:
		return `{"type":"text","text":" "}`
	}
	return text
}

func (k *talk) answer() string {
	blocks := k.content()
	if k.rand.IntN(3) == 0 {
		blocks = []string{
			`{"type":"thinking","thinking":"hm","thinkingSignature":"reasoning_content"},`,
			`{"type":"thinking","thinking":"hm","thinkingSignature":"{\"type\":\"reasoning\",\"id\":\"rs_1\",\"encrypted_content\":\"e\"}"},`,
			`{"type":"redactedThinking","data":"x"},`, `{"type":"thinking","thinking":"hm"},`,
		}[k.rand.IntN(4)] + blocks
	}
	for range k.rand.IntN(3) {
		blocks += fmt.Sprintf(`,{"type":"toolCall","id":%q,"name":"look","arguments":{"n":%d},"thoughtSignature":"c2ln"}`, k.call(), k.n)
	}
	stop := []string{"stop", "stop", "toolUse", "toolUse", "error", "aborted"}[k.rand.IntN(6)]
	return fmt.Sprintf(`{"role":"assistant","provider":"openai","api":%q,"model":%q,"stopReason":%q,"usage":{"totalTokens":%d},"timestamp":%d,"content":[%s]}`,
		apis[k.rand.IntN(len(apis))], []string{"m", "other"}[k.rand.IntN(2)], stop, k.rand.IntN(2)*k.n*10, k.n, blocks)
}

func (k *talk) message() string {
	k.n++
	switch k.rand.IntN(9) {
	case 0, 1, 2:
		return k.answer()
	case 3, 4, 5:
		return fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"look","isError":false,"timestamp":%d,"content":[%s]}`, k.call(), k.n, k.content())
	case 6:
		return `{"role":"bashExecution","command":"ls","output":"a","exitCode":1}`
	default:
		return fmt.Sprintf(`{"role":"user","timestamp":%d,"content":[%s]}`, k.n, k.content())
	}
}

func (k *talk) some() string {
	if len(k.ids) == 0 {
		return ""
	}
	return k.ids[max(0, len(k.ids)-1-k.rand.IntN(12))]
}

// step changes the conversation, the model or the omitted parts.
func (k *talk) step() {
	switch n := k.rand.IntN(40); {
	case n < 30:
		id, err := k.log.Append(session.DraftMessage(json.RawMessage(k.message())))
		require.NoError(k.t, err)
		k.ids = append(k.ids, id)
	case n < 32:
		_ = k.log.Branch(k.some())
	case n < 33:
		k.foreign(fmt.Sprintf(`{"type":"compaction","id":"%08x","parentId":%q,"timestamp":"2026-01-02T03:04:05.000Z","summary":"sum","firstKeptEntryId":%q,"tokensBefore":5,`+
			`"preserveData":{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":%s}}}`,
			k.rand.Uint32(), k.log.LeafID(), k.some(), []string{"null", `[{"type":"compaction","encrypted_content":"e"}]`}[k.rand.IntN(2)]))
	case n < 35:
		k.foreign(fmt.Sprintf(`{"type":"message","id":"%08x","parentId":%q,"timestamp":"2026-01-02T03:04:05.000Z","message":%s}`, k.rand.Uint32(), k.log.LeafID(), k.message()))
	case n < 36:
		k.foreign(fmt.Sprintf(`{"type":"context_edit","id":"%08x","parentId":%q,"timestamp":"2026-01-02T03:04:05.000Z","targetId":%q,"replacement":{"content":"edited"}}`, k.rand.Uint32(), k.log.LeafID(), k.some()))
	case n < 37:
		content, err := afero.ReadFile(k.fs, k.log.Path())
		require.NoError(k.t, err)
		require.NoError(k.t, afero.WriteFile(k.fs, k.log.Path()+".new", content, 0o600))
		require.NoError(k.t, k.fs.Rename(k.log.Path()+".new", k.log.Path()))
		_, err = k.log.Refresh()
		require.NoError(k.t, err)
	case n < 39:
		k.choose()
	default:
		k.without = memo.Without{Images: int64(k.rand.IntN(2) * k.n), Thinking: int64(k.rand.IntN(2) * k.n), Reason: "rejected"}
	}
}

// foreign appends a line as another program does.
func (k *talk) foreign(line string) {
	f, err := k.fs.OpenFile(k.log.Path(), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(k.t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(k.t, err)
	require.NoError(k.t, f.Close())
	_, err = k.log.Refresh()
	require.NoError(k.t, err)
}

// scratch makes the request of the session file alone.
func (k *talk) scratch() (all []provider.Message, stored []json.RawMessage) {
	require.NoError(k.t, k.log.View(func(d *session.Document, leaf session.Leaf) error {
		c, _, err := session.BuildContext(d, leaf, nil)
		stored = c.Messages
		return err
	}))
	all = convert.Messages(stored)
	if k.without.Images > 0 {
		all, _ = imaging.Without(all, k.without.Images, k.without.Reason)
	}
	if k.without.Thinking > 0 {
		all, _ = provider.WithoutThinking(all, k.without.Thinking)
	}
	return k.fitter.Messages(all), stored
}

// send returns the bytes of a request with the messages, which are prepared by its client unless they are.
func (k *talk) send(messages []provider.Message, prepared bool) string {
	for range k.apis[k.model.API].Stream(k.t.Context(), provider.Request{Model: k.model, System: "Be brief.", Messages: messages, Prepared: prepared, Key: "k", Size: 9}) {
	}
	sent := k.wire.sent
	k.wire.sent = ""
	require.NotEmpty(k.t, sent)
	return sent
}

func encoded(messages []provider.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.Write(m.Encode())
	}
	return b.String()
}

func (k *talk) check() {
	k.t.Helper()
	c, _, err := k.log.Context()
	require.NoError(k.t, err)
	if k.older = append(k.older, c); len(k.older) > 5 {
		if k.rand.IntN(10) == 0 {
			k.memo.Tokens(k.older[0].Messages) // another caller may be a little late
		}
		k.older = k.older[1:]
	}
	all, stored := k.scratch()
	prepared := provider.Prepare(all, k.model)
	r := k.memo.Request(c.Messages, k.model, k.without)
	require.Equal(k.t, encoded(prepared), encoded(r.Messages))
	require.Equal(k.t, k.send(all, false), k.send(r.Messages, true))
	last, history := "", false
	for _, m := range all {
		last = m.Role
	}
	for _, m := range prepared {
		history = history || m.History != nil
	}
	require.Equal(k.t, last, r.Last)
	require.Equal(k.t, history, r.History)
	tokens, counted := compaction.Tokens(stored)
	require.Equal(k.t, tokens, k.memo.Tokens(c.Messages))
	var sizes compaction.Sizes
	for _, m := range stored {
		sizes.Add(m)
	}
	asked := false
	require.Equal(k.t, sizes.Request(1000), k.memo.Size(c.Messages, func() int { asked = true; return 1000 }))
	require.Equal(k.t, !counted, asked)
	var each []provider.Message
	k.memo.Each(c.Messages, func(m provider.Message) { each = append(each, m) })
	require.Equal(k.t, encoded(convert.Messages(stored)), encoded(each))
	k.returned, k.encoded = append(k.returned, r.Messages), append(k.encoded, encoded(r.Messages))
	if len(k.returned) > 5 {
		require.Equal(k.t, k.encoded[0], encoded(k.returned[0]), "a request changed after it was made")
		k.returned, k.encoded = k.returned[1:], k.encoded[1:]
	}
}

// The bytes of a request are those that the session file alone leads to, whatever happened to the session
// before, in every wire format.
func TestRequestsEqualThoseFromScratch(t *testing.T) {
	t.Parallel()
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5) {
				k := newTalk(t, seed, dialect)
				for range 70 {
					for range 1 + k.rand.IntN(2) {
						k.step()
					}
					k.check()
				}
			}
		})
	}
}

// When the images of a conversation are more than a request may have, each new one pushes out an old one.
func TestRequestsWithTooManyImages(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	fitter := new(imaging.Fitter)
	m := memo.New(fitter)
	model := provider.Model{ID: "m", Provider: "p", API: provider.AnthropicMessages, Input: []string{"text", "image"}}
	var stored []json.RawMessage
	left := 0
	for i := range 6 {
		data := strings.Repeat(string(rune('A'+i)), imaging.MaxBase64)
		stored = append(stored, json.RawMessage(`{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"`+data+`"}]}`))
		want := provider.Prepare(fitter.Messages(convert.Messages(stored)), model)
		got := m.Request(stored, model, memo.Without{}).Messages
		require.Equal(t, encoded(want), encoded(got))
		if got[0].Content[0].Type == provider.TypeText {
			left++
		}
	}
	require.Positive(t, left, "an image was left out")
	short := stored[4:]
	require.Equal(t, encoded(provider.Prepare(fitter.Messages(convert.Messages(short)), model)), encoded(m.Request(short, model, memo.Without{}).Messages))
}

func lines(n int, text string) (stored []json.RawMessage) {
	for i := range n {
		stored = append(stored, json.RawMessage(fmt.Sprintf(`{"role":"user","content":"%s %d"}`, text, i)))
	}
	return stored
}

// A memo may be used by several at once, for conversations that differ.
func TestAMemoForSeveralAtOnce(t *testing.T) {
	t.Parallel()
	m := memo.New(new(imaging.Fitter))
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			model := provider.Model{ID: fmt.Sprint(i), Provider: "p", API: provider.AnthropicMessages}
			for n := range 50 {
				stored := lines(1+(n*7+i)%20, []string{"a", "b"}[i%2])
				want := provider.Prepare(convert.Messages(stored), model)
				got := m.Request(stored, model, memo.Without{})
				tokens, _ := compaction.Tokens(stored)
				if encoded(want) != encoded(got.Messages) || m.Tokens(stored) != tokens {
					t.Error("a request of another conversation")
				}
			}
		})
	}
	wait.Wait()
}

// Messages that are no longer part of the conversation are not kept in memory.
func TestAMemoForgets(t *testing.T) {
	t.Parallel()
	m := memo.New(new(imaging.Fitter))
	model := provider.Model{ID: "m", Provider: "p", API: provider.AnthropicMessages}
	freed := make(chan struct{})
	func() {
		stored := lines(200, "before the compaction")
		runtime.AddCleanup(&stored[100][0], func(c chan struct{}) { close(c) }, freed)
		require.Len(t, m.Request(stored, model, memo.Without{}).Messages, 200)
	}()
	after := lines(3, "after it")
	m.Tokens(after)
	for { // until the test's time is over
		runtime.GC()
		select {
		case <-freed:
			require.Len(t, m.Request(after, model, memo.Without{}).Messages, 3) // the memo itself is in use
			return
		default:
			runtime.Gosched()
		}
	}
}
