package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/imaging"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// photo is an image of more than 4.5 MB.
func photo(t *testing.T) provider.Block {
	t.Helper()
	in := image.NewNRGBA(image.Rect(0, 0, 1100, 1100))
	rand.New(rand.NewSource(1)).Read(in.Pix)
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, in))
	require.Greater(t, b.Len(), imaging.MaxBase64)
	return provider.Block{Type: provider.TypeImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}

func TestPromptImagesAreScaled(t *testing.T) {
	t.Parallel()
	m := scripted(providertest.Reply{Text: "Nice."})
	w := newWorld(t, afero.NewMemMapFs(), withModel(m))
	live := w.live(t, "/w")
	_, err := live.Prompt(t.Context(), agent.Input{Text: "look", Images: []provider.Block{photo(t)}})
	require.NoError(t, err)
	info, err := w.fs.Stat(live.File())
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(imaging.MaxBase64+10_000), "the file has the scaled image, too")
}

// A service that rejects an image fails the request in which it is, and every one after it.
func TestARejectedImageIsLeftOut(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			s.Limit("m", providertest.Limits{NoImages: true})
			s.Script("m", providertest.Reply{Text: "I see."})
			w := newWorld(t, afero.NewMemMapFs(), withService(s))
			live := w.live(t, "/w")
			small := provider.Block{Type: provider.TypeImage, MimeType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte("broken"))}
			_, err := live.Prompt(t.Context(), agent.Input{Text: "look", Images: []provider.Block{small}})
			require.NoError(t, err)
			notices := eventsOf[event.Notice](w)
			require.Len(t, notices, 1)
			assert.Contains(t, notices[0].Text, "rejected an image")
			require.Len(t, s.Requests(), 2)
			assert.Contains(t, s.Requests()[1].LastText(), "image omitted: the model service rejected an image")

			prompt(t, live, "and now?")
			require.Len(t, s.Requests(), 3, "it is not tried again")
		})
	}
}

// place is how each service names the part of a request that it rejects.
var place = map[provider.API]func(message int) string{
	provider.AnthropicMessages: func(i int) string { return fmt.Sprintf("messages.%d.content.0: not acceptable", i) },
	provider.OpenAICompletions: func(i int) string { return fmt.Sprintf("Invalid 'messages[%d].content': not acceptable", i) },
	provider.OpenAIResponses:   func(i int) string { return fmt.Sprintf("Invalid value: 'input[%d]' is not acceptable", i) },
	provider.GoogleGenerativeAI: func(i int) string {
		return fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[0]: not acceptable", i)
	},
	provider.BedrockConverse: func(i int) string {
		return fmt.Sprintf("The value at messages.%d.content.0 is not acceptable.", i)
	},
}

// sentAt returns the index of the message with a text in the body of a request.
func sentAt(r providertest.Request, text string) int {
	for _, list := range []string{"messages", "input", "contents"} {
		at, found := 0, -1
		rawjson.Elements(rawjson.Get(r.Body, list), func(v []byte) bool {
			if bytes.Contains(v, []byte(text)) {
				found = at
			}
			at++
			return true
		})
		if found >= 0 {
			return found
		}
	}
	return -1
}

// A service that rejects one entry of the conversation fails every later request. The user learns which
// entry it is and can go back before it.
func TestARejectedEntryCanBeLeftOut(t *testing.T) {
	t.Parallel()
	for api := range clients {
		for _, poison := range []string{"the poison of a prompt", "the poison of a tool"} {
			t.Run(string(api)+"/"+poison, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, api, func(c *agent.Config) {
					c.Tools[0].Run = func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
						return tool.TextResult("the poison of a tool"), nil
					}
				})
				s.Limit("m", providertest.Limits{Reject: func(r providertest.Request) string {
					if i := sentAt(r, poison); i >= 0 {
						return place[api](i)
					}
					return ""
				}})
				s.Script("m", providertest.Reply{Text: "Fine."}, providertest.Reply{Text: "I look.", ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Over."})
				prompt(t, s.live, "hello")
				text := "look at it"
				if poison == "the poison of a prompt" {
					text = poison
				}
				_, err := s.live.Prompt(t.Context(), agent.Input{Text: text})
				for range 2 {
					failure := new(fault.Error)
					require.ErrorAs(t, err, &failure)
					require.Contains(t, failure.Message, "not acceptable")
					require.Contains(t, failure.Message, map[bool]string{true: `The rejected entry is the prompt "` + poison, false: "The rejected entry is the result of look."}[text == poison])
					require.NotEmpty(t, failure.Data["entryId"])
					ends := eventsOf[event.AgentEnd](s.world)
					end := ends[len(ends)-1]
					require.Equal(t, failure.Message, end.ErrorMessage)
					require.Equal(t, failure.Data["entryId"], end.EntryID)
					require.Equal(t, failure.Data["actions"], end.Actions)
					_, err = s.live.Prompt(t.Context(), agent.Input{Text: "and now?"})
					require.Error(t, err, "every later request fails")
				}
				before := fileText(t, s)

				ends := eventsOf[event.AgentEnd](s.world)
				action := ends[len(ends)-1].Actions[0]
				require.Equal(t, "xcsh.branch", action.Command)
				id, ok := action.Arguments["entryId"].(string)
				require.True(t, ok)
				editor, err := s.live.Branch(t.Context(), id, agent.BranchOptions{})
				require.NoError(t, err)
				require.Equal(t, text, editor, "the prompt of the rejected turn can be edited")
				require.Equal(t, provider.StopEnd, prompt(t, s.live, "something else").StopReason)
				require.True(t, strings.HasPrefix(fileText(t, s), before), "the entry stays in the file")
			})
		}
	}
}

func fileText(t *testing.T, s scene) string {
	t.Helper()
	content, err := afero.ReadFile(s.fs, s.live.File())
	require.NoError(t, err)
	return string(content)
}

// If the service does not name the entry, the newest prompt is offered, and no entry is named.
func TestARejectionWithoutAPlace(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"not acceptable", "messages.99.content.0: not acceptable", "messages.0.content.999999999", "messages[-1]"} {
		s := newScene(t, provider.AnthropicMessages)
		s.Limit("m", providertest.Limits{Reject: func(providertest.Request) string { return reason }})
		s.Script("m", providertest.Reply{Text: "Fine."})
		_, err := s.live.Prompt(t.Context(), agent.Input{Text: "hello"})
		failure := new(fault.Error)
		require.ErrorAs(t, err, &failure)
		ends := eventsOf[event.AgentEnd](s.world)
		require.Len(t, ends, 1)
		require.Len(t, ends[0].Actions, 3, reason)
		if reason != "messages.0.content.999999999" { // the message is known, and has only one part
			require.Nil(t, failure.Data["entryId"], reason)
			require.Empty(t, ends[0].EntryID)
		}
		_, err = s.live.Branch(t.Context(), ends[0].Actions[0].Arguments["entryId"].(string), agent.BranchOptions{})
		require.NoError(t, err)
	}
}

// Other failures offer nothing: another entry would fail in the same way.
func TestOnlyRejectionsHaveActions(t *testing.T) {
	t.Parallel()
	for _, f := range []providertest.Fault{providertest.BadKey, providertest.NoCredit, providertest.TooLong} {
		s := newScene(t, provider.AnthropicMessages)
		s.Script("m", providertest.Reply{Fault: f})
		_, err := s.live.Prompt(t.Context(), agent.Input{Text: "hello"})
		failure := new(fault.Error)
		require.ErrorAs(t, err, &failure)
		require.Nil(t, failure.Data["actions"])
		require.Empty(t, eventsOf[event.AgentEnd](s.world)[0].Rejection)
	}
}

// Signatures that a service does not accept, such as those of a proxy in front of another service, fail
// every later request. The turn continues without the thinking, also in the middle of it.
func TestRejectedThinkingIsLeftOut(t *testing.T) {
	t.Parallel()
	for api, reason := range map[provider.API]string{
		provider.AnthropicMessages: "messages.1.content.0: Invalid `signature` in `thinking` block",
		provider.OpenAICompletions: "Unable to submit request because Thought signature is not valid.",
		provider.OpenAIResponses:   "The encrypted content for item rs_1 could not be verified.",
	} {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, api)
			s.Limit("m", providertest.Limits{Reject: func(r providertest.Request) string {
				for _, m := range r.Messages {
					for _, b := range m.Content {
						if b.Type == provider.TypeThinking || b.ThoughtSignature == "sig" {
							return reason
						}
					}
				}
				return ""
			}})
			call := providertest.Call{Name: "look", Signature: "sig"}
			s.Script("m", providertest.Reply{Thinking: "hm", Text: "I look.", ToolCalls: []providertest.Call{call}}, providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Fine."})
			require.Equal(t, provider.StopEnd, prompt(t, s.live, "hello").StopReason)
			notices := eventsOf[event.Notice](s.world)
			require.Len(t, notices, 1)
			require.Contains(t, notices[0].Text, "The thinking so far is left out of requests")
			require.Len(t, s.Requests(), 3)
			require.Equal(t, int32(1), s.ran.Load(), "the call is not run again")
			require.Contains(t, fileText(t, s), `"thinking":"hm"`, "the file keeps it")

			prompt(t, s.live, "and now?")
			require.Len(t, s.Requests(), 4, "it is not tried again")
		})
	}
}
