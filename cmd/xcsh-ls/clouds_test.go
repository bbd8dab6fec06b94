package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// at makes the address of a provider of the catalogue that of the fake service.
func (m *machine) at(name string, api provider.API) {
	m.t.Helper()
	raw, err := json.Marshal(map[string]any{"providers": map[string]any{name: map[string]any{"baseUrl": m.URL(api)}}})
	require.NoError(m.t, err)
	m.write(filepath.Join(m.agentDir(), "models.json"), string(raw))
}

// with runs the program with further variables of the environment.
func (m *machine) with(env []string, args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	cmd := m.command(args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is the result
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

const pro31 = "gemini-3.1-pro-preview"

// Turns with tools of a model of the catalogue, which refuses calls without its signatures.
func TestRunOverGooglesOwnAPI(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.GoogleGenerativeAI)
	m.at("google", provider.GoogleGenerativeAI)
	m.write(m.path("a.txt"), "hello there\n")
	m.Limit(pro31, providertest.Limits{Signed: true})
	m.Script(
		pro31, providertest.Reply{Thinking: "hm", Text: "I look.", ToolCalls: append(calls("read", map[string]any{"path": "a.txt"}), calls("ls", nil)...)},
		providertest.Reply{Text: "Hello."}, providertest.Reply{Text: "Again."},
	)
	key := []string{"GEMINI_API_KEY=" + fakeKey}
	code, stdout, stderr := m.with(key, "run", "--model", "google/"+pro31, "read", "a.txt")
	require.Zero(t, code, stderr)
	require.Equal(t, "I look.\nHello.\n", stdout)
	code, _, stderr = m.with(key, "run", "--continue", "and now?")
	require.Zero(t, code, stderr)

	messages := m.messages(m.sessionFile())
	require.Equal(t, "user assistant:toolUse toolResult toolResult assistant:stop user assistant:stop", roles(messages))
	require.Equal(t, provider.GoogleGenerativeAI, messages[1].API)
	require.Equal(t, "google", messages[1].Provider)
	require.NotEmpty(t, messages[1].ToolCalls()[0].ThoughtSignature)
	require.NotEmpty(t, messages[4].Content[0].TextSignature)
	reqs := m.Requests()
	require.Equal(t, messages[1].Content[0], reqs[2].Messages[1].Content[0], "thinking goes back")
	require.Equal(t, reqs[1].Messages, reqs[2].Messages[:4], "earlier messages are sent unchanged")

	require.NotContains(t, m.read(m.sessionFile()), fakeKey)
}

// Signatures in a session that pi wrote go back to the model that made them.
func TestPisSessionWithGoogleContinues(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.GoogleGenerativeAI)
	m.at("google", provider.GoogleGenerativeAI)
	m.Limit(pro31, providertest.Limits{Signed: true})
	m.Script(pro31, providertest.Reply{Text: "Yes."})
	const signedCall, signedText, signedThought = "gPQsz3GK14ZrmprJXfO5sHd4LtsdUFEPwrDLuhpmM5Y=",
		"Iu1643l2gXn2CQ/wcIep2rR4Bxv9UwmwMTHzAnyP00Q=", "va2kRUY9gMlUvan2LfjQ3yNtt+Rn01HY8zguxduj0iw="
	answer := func(id, parent, stop, content string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-11-20T10:26:40.000Z","message":{"role":"assistant","content":[` + content +
			`],"api":"google-generative-ai","provider":"google","model":"` + pro31 + `","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"reasoning":1,"totalTokens":2,` +
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"` + stop + `","rawStopReason":"STOP","timestamp":1,"responseId":"r"}}`
	}
	cwd, err := json.Marshal(m.work)
	require.NoError(t, err)
	before := strings.Join([]string{
		`{"type":"session","version":3,"id":"01a1f87e-763e-7594-91f7-0f7a0a73a62d","timestamp":"2026-11-20T10:26:39.806Z","cwd":` + string(cwd) + `}`,
		`{"type":"model_change","id":"c132ebab","parentId":null,"timestamp":"2026-11-20T10:26:39.814Z","provider":"google","modelId":"` + pro31 + `"}`,
		`{"type":"message","id":"acc23d1a","parentId":"c132ebab","timestamp":"2026-11-20T10:26:39.815Z","message":{"role":"user","content":[{"type":"text","text":"read a.txt"}],"timestamp":1}}`,
		answer("acc23d1b", "acc23d1a", "toolUse", `{"type":"thinking","thinking":"Look first.","thinkingSignature":"`+signedThought+`"},`+
			`{"type":"toolCall","id":"read_1763634400000_1","name":"read","arguments":{"path":"a.txt"},"thoughtSignature":"`+signedCall+`"}`),
		`{"type":"message","id":"acc23d1c","parentId":"acc23d1b","timestamp":"2026-11-20T10:26:41.000Z","message":{"role":"toolResult","toolCallId":"read_1763634400000_1","toolName":"read","content":[{"type":"text","text":"hello"}],"isError":false,"timestamp":1}}`,
		answer("acc23d1d", "acc23d1c", "stop", `{"type":"text","text":"I read it.","textSignature":"`+signedText+`"}`),
	}, "\n") + "\n"
	file := filepath.Join(m.home, ".pi", "agent", "sessions", "--w--", "2026-11-20T10-26-39-806Z_01a1f87e-763e-7594-91f7-0f7a0a73a62d.jsonl")
	m.write(file, before)

	code, stdout, stderr := m.with([]string{"GEMINI_API_KEY=" + fakeKey}, "run", "--resume", file, "sure?")
	require.Zero(t, code, stderr)
	require.Equal(t, "Yes.\n", stdout)
	require.True(t, strings.HasPrefix(m.read(file), before), "existing lines are unchanged")
	sent := m.Requests()[0].Messages
	require.Equal(t, signedThought, sent[1].Content[0].ThinkingSignature)
	require.Equal(t, signedCall, sent[1].ToolCalls()[0].ThoughtSignature)
	require.Equal(t, "read_1763634400000_1", sent[1].ToolCalls()[0].ID)
	require.Equal(t, signedText, sent[3].Content[0].TextSignature)
}

// The address, the deployment and the key of Azure come from the environment.
func TestRunAtAzure(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AzureResponses)
	m.Script("ours", providertest.Reply{ToolCalls: calls("ls", nil)}, providertest.Reply{Text: "Done."})
	key := "AZURE_OPENAI_API_KEY=" + fakeKey
	code, _, stderr := m.with([]string{key}, "run", "--model", "azure/gpt-4.1", "hello")
	require.NotZero(t, code)
	require.Contains(t, stderr, "AZURE_OPENAI_BASE_URL")

	code, stdout, stderr := m.with([]string{
		key, "AZURE_OPENAI_BASE_URL=" + m.URL(provider.AzureResponses), "AZURE_OPENAI_DEPLOYMENT_NAME_MAP=gpt-4.1=ours",
	}, "run", "--model", "azure/gpt-4.1", "hello")
	require.Zero(t, code, stderr)
	require.Equal(t, "Done.\n", stdout)
	require.Equal(t, "gpt-4.1", m.messages(m.sessionFile())[1].Model)
}

// A token of the credentials on this machine takes the place of a key, and is in no file.
func TestRunAtGoogleCloud(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.GoogleVertex)
	m.at("google-vertex", "")
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"` + fakeKey + `","token_type":"Bearer","expires_in":3600}`))
	}))
	t.Cleanup(tokens.Close)
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	require.NoError(t, err)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "robot@example.com", "token_uri": tokens.URL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	m.write(filepath.Join(m.home, "account.json"), string(account))
	m.Limit(pro31, providertest.Limits{Signed: true})
	m.Script(pro31, providertest.Reply{ToolCalls: calls("ls", nil)}, providertest.Reply{Text: "Done."})
	code, stdout, stderr := m.with([]string{
		"GOOGLE_CLOUD_PROJECT=p-1", "GOOGLE_CLOUD_LOCATION=europe-west1", "GOOGLE_APPLICATION_CREDENTIALS=" + filepath.Join(m.home, "account.json"),
	}, "run", "--model", "google-vertex/"+pro31, "hello")
	require.Zero(t, code, stderr)
	require.Equal(t, "Done.\n", stdout)
	require.NotContains(t, m.read(m.sessionFile()), fakeKey)
}

// Requests to Amazon are signed with the credentials of the environment. The fake service checks them.
func TestRunAtAmazon(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.BedrockConverse)
	const claude = "anthropic.claude-opus-4-5-20251101-v1:0"
	m.Script(claude, providertest.Reply{Thinking: "hm", ToolCalls: calls("ls", nil)}, providertest.Reply{Text: "Done."})
	at := "AWS_ENDPOINT_URL_BEDROCK_RUNTIME=" + m.URL(provider.BedrockConverse)
	signed := []string{at, "AWS_REGION=eu-west-3", "AWS_ACCESS_KEY_ID=" + providertest.AmazonKey, "AWS_SECRET_ACCESS_KEY=" + providertest.AmazonSecret}
	code, stdout, stderr := m.with(signed, "run", "--model", "amazon-bedrock/"+claude, "hello")
	require.Zero(t, code, stderr)
	require.Equal(t, "Done.\n", stdout)
	require.Contains(t, string(m.Requests()[1].Body), `"signature"`, "thinking goes back")

	code, _, stderr = m.with(append(signed, "AWS_SECRET_ACCESS_KEY=another"), "run", "--continue", "hello")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "amazon-bedrock rejected the API key")
	code, _, stderr = m.with([]string{at}, "run", "--continue", "hello")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "AWS_BEARER_TOKEN_BEDROCK")
}
