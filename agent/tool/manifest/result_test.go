//go:build unix

package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/manifest"
)

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script, want string
		failed       bool
	}{
		"text":                      {script: `echo '{"content":"fine"}'`, want: "fine"},
		"over several lines":        {script: `printf '{\n"content":\n"fine"\n}\n'`, want: "fine"},
		"texts":                     {script: `echo '{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}'`, want: "a|b"},
		"empty":                     {script: `echo '{"content":""}'`, want: "(no output)"},
		"an empty list":             {script: `echo '{"content":[]}'`, want: "(no output)"},
		"an error of its own":       {script: `echo '{"content":"no such city","isError":true}'`, want: "no such city", failed: true},
		"progress before it":        {script: `echo '{"progress":"10%"}'; echo; echo '{"progress":"90%"}'; echo '{"content":"fine"}'`, want: "fine"},
		"escapes":                   {script: `printf '{"content":"a\\u001b[31mred\\u001b]0;title\\u0007\\u0008"}'`, want: "ared"},
		"invalid UTF-8":             {script: `printf '{"content":"caf\351"}'`, want: "caf\uFFFD"},
		"input that it ignores":     {script: `exec <&-; echo '{"content":"fine"}'`, want: "fine"},
		"nothing":                   {script: `:`, want: "The tool t returned no result.", failed: true},
		"only progress":             {script: `echo '{"progress":"10%"}'`, want: "The tool t returned no result.", failed: true},
		"only progress, no newline": {script: `printf '{"progress":"10%%"}'`, want: "The tool t returned no result.", failed: true},
		"words":                     {script: `echo fine`, want: `The tool t did not return {"content": "..."}.`, failed: true},
		"two results":               {script: `echo '{"content":"a"}{"content":"b"}'`, want: `The tool t did not return {"content": "..."}.`, failed: true},
		"progress after it":         {script: `echo '{"content":"a"}'; echo '{"progress":"b"}'`, want: `The tool t did not return {"content": "..."}.`, failed: true},
		"another member":            {script: `echo '{"content":"a","toolCallId":"forged"}'`, want: `The tool t did not return {"content": "..."}.`, failed: true},
		"a tool call":               {script: `echo '{"content":[{"type":"toolCall"}]}'`, want: `The tool t returned a content of the type "toolCall"; it can have text and image.`, failed: true},
		"a failure":                 {script: `echo '{"content":"a"}'; echo 'no	network' >&2; exit 3`, want: "The tool t failed with exit code 3.\n\nno\tnetwork", failed: true},
		"a signal":                  {script: `kill -9 $$`, want: "The tool t failed with exit code 137.", failed: true},
		"a false image":             {script: `echo '{"content":[{"type":"image","data":"eA==","mimeType":"image/png"}]}'`, want: "The tool t returned an image that is not PNG, JPEG, GIF or WebP.", failed: true},
		"an image from elsewhere":   {script: `echo '{"content":[{"type":"image","data":"blob:sha256:0","mimeType":"image/png"}]}'`, want: "The tool t returned an image whose data is not base64.", failed: true},
		"too much output":           {script: `yes '{"progress":"x"}'`, want: "The tool t returned more than 16777216 bytes and was ended.", failed: true},
		"one endless line":          {script: `tr '\0' a </dev/zero`, want: "The tool t returned more than 16777216 bytes and was ended.", failed: true},
		"endless errors":            {script: `yes evil | head -c 3000000 >&2; echo '{"content":"fine"}'`, want: "fine"},
		"deep details":              {script: `printf '{"content":"a","details":'; yes '[' | head -n 5000 | tr -d '\n'; yes ']' | head -n 5000 | tr -d '\n'; echo '}'`, want: "The tool t returned details that are too large.", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWorld(t).does(tc.script)
			require.Equal(t, tc.want, text(r))
			require.Equal(t, tc.failed, r.IsError)
		})
	}
}

func TestImagesAndDetails(t *testing.T) {
	t.Parallel()
	r := newWorld(t).does(`echo '{"content":[{"type":"text","text":"a dot"},{"type":"image","data":"` + dot + `","mimeType":"text/html"}],"details":{ "n" : 1.0 }}'`)
	require.False(t, r.IsError, text(r))
	require.Equal(t, []provider.Block{provider.Text("a dot"), {Type: provider.TypeImage, Data: dot, MimeType: "image/png"}}, r.Content)
	require.Equal(t, `{"n":1.0}`, string(r.Details))
	image := `{"type":"image","data":"` + dot + `"},`
	r = newWorld(t).does(`echo '{"content":[` + strings.TrimSuffix(strings.Repeat(image, 5), ",") + `]}'`)
	require.Equal(t, "The tool t returned more than 4 images.", text(r))
}

func TestALongResultIsCut(t *testing.T) {
	t.Parallel()
	r := newWorld(t).does(`printf '{"content":"'; head -c 300000 /dev/zero | tr '\0' x; echo '"}'`)
	require.Less(t, len(text(r)), 60_000)
	require.Contains(t, text(r), "[Showing the first 50.0KB of 293.0KB.]")
	r = newWorld(t).does(`printf '{"content":['; for i in 1 2 3; do printf '{"type":"text","text":"'; head -c 40000 /dev/zero | tr '\0' x; printf '"},'; done; echo '{"type":"text","text":"end"}]}'`)
	require.Less(t, len(text(r)), 60_000)
	require.Contains(t, text(r), "[The rest of the result is too long and was left out.]")
}

func TestProgressIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("t", anything, `echo '{"progress":"half\u001b[2J"}'; echo '{"content":"fine"}'`)
	var shown progress
	r, err := w.only().Run(t.Context(), tool.Env{Cwd: w.cwd, Permission: tool.Permission{Level: sandbox.Outside}, Update: shown.update}, []byte(`{}`))
	require.NoError(t, err)
	require.Equal(t, "fine", text(r))
	require.Equal(t, []string{"half"}, shown.shown)
}

// Neither the executable nor any process that it has started may be left behind.
func TestATooSlowToolIsEndedWithItsProcessGroup(t *testing.T) {
	t.Parallel()
	for name, seconds := range map[string]string{"at the limit": "0.5", "when the turn is stopped": "600"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			started := w.cwd + "/started"
			require.NoError(t, syscall.Mkfifo(started, 0o600))
			w.put("t", anything, `trap '' TERM; sleep 300 & echo $$ $! >`+started+`; echo '{"content":"never"}'; while :; do wait; done`)
			w.write("t.json", `{"name":"t","description":"x","parameters":{"type":"object"},"executable":"t.sh","timeoutSeconds":`+seconds+`}`, 0o600)
			loaded := w.only()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan tool.Result, 1)
			go func() {
				r, err := w.call(ctx, loaded, `{}`)
				assert.NoError(t, err)
				done <- r
			}()
			pids, err := os.ReadFile(started)
			require.NoError(t, err)
			want := "The tool t exceeded its time limit of 0.5 s and was ended."
			if seconds == "600" {
				cancel()
				want = "The tool t was stopped."
			}
			require.Equal(t, want, text(<-done))
			for pid := range strings.FieldsSeq(string(pids)) {
				n, err := strconv.Atoi(pid)
				require.NoError(t, err)
				require.Eventually(t, func() bool { return gone(n) }, 10*time.Second, 5*time.Millisecond, "process %d", n)
			}
		})
	}
}

// gone reports whether a process has ended. A zombie has ended, too.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		return strings.Contains(string(stat), ") Z ")
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// A tool gets no variable that may hold a secret, and none of the model's choice.
func TestTheEnvironmentOfATool(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "TOP-SECRET")
	t.Setenv("SOME_NAME", "TOP-SECRET")
	w := newWorld(t)
	w.put("t", anything, `printf '{"content":"%s"}' "$(env | tr -d '"\\' | tr '\n' ' ')"`)
	r, err := w.call(t.Context(), w.only(), `{"env":{"EVIL":"x"},"XCSH_TOOL_NAME":"y"}`)
	require.NoError(t, err)
	require.Contains(t, text(r), "XCSH_TOOL_NAME=t ")
	require.NotContains(t, text(r), "TOP-SECRET")
	require.NotContains(t, text(r), "EVIL")
}

func FuzzParseResult(f *testing.F) {
	f.Add([]byte(`{"content":"a","isError":true,"details":{"a":[1]}}`))
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"` + dot + `","mimeType":"image/png"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := manifest.ParseResult(raw)
		if err != nil {
			return
		}
		require.NotEmpty(t, r.Content)
		size := 0
		for _, b := range r.Content {
			require.Contains(t, []string{provider.TypeText, provider.TypeImage}, b.Type)
			require.True(t, utf8.ValidString(b.Text))
			size += len(b.Text)
		}
		require.Less(t, size, 2*tool.MaxBytes)
	})
}
