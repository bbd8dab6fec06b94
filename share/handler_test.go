//go:build unix

package share_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/share"
)

// The first of three modules is the handler, and a gist is only made without any.
// Proves: O-025
func TestHandlersInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	w.bun()
	w.gh(answerGist)
	names := []string{"share.ts", "share.js", "share.mjs"}
	for _, name := range names {
		w.handler(name, `export default async (page) => "https://example.com/`+name+`"`)
	}
	w.program(w.agent, "share", "echo https://example.com/share")
	for _, name := range append(names, "share") {
		require.Equal(t, share.Result{Via: share.Custom, URL: "https://example.com/" + name}, w.ok())
		require.NoError(t, os.Remove(filepath.Join(w.agent, name)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(w.agent, "share"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(w.agent, "share.js"), 0o700))
	require.Equal(t, share.Gist, w.ok().Via, "a directory is no handler")
}

// The agent directories of all programs are searched in order. An unusable handler ends the search: the
// page was meant for it.
// Proves: O-025
func TestHandlersOfSeveralPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(answerGist)
	second, third := filepath.Join(w.agent, "second"), filepath.Join(w.agent, "third")
	w.AgentDirs = []string{filepath.Join(w.agent, "gone"), w.agent, second, third}
	require.NoError(t, os.Mkdir(second, 0o700))
	require.NoError(t, os.Mkdir(third, 0o700))
	require.Equal(t, share.Gist, w.ok().Via, "there is none")
	var checked []string
	w.Check = func(dir string) error {
		checked = append(checked, dir)
		if dir == third {
			return fault.New(fault.Denied, "%s is not used.", dir)
		}
		return nil
	}
	w.program(third, "share", "echo https://example.com/third")
	require.Equal(t, "AGENT/third is not used.", w.fails(fault.Denied))
	w.program(second, "share", "echo https://example.com/second")
	require.Equal(t, "https://example.com/second", w.ok().URL)
	w.program(w.agent, "share", "echo https://example.com/first")
	require.Equal(t, "https://example.com/first", w.ok().URL)
	require.Equal(t, []string{third, second, w.agent}, checked, "only the directory of the handler that runs")
	w.handler("share.js", "this is no script")
	require.Contains(t, w.fails(fault.NotFound), "AGENT/share.js needs bun or Node.js")
}

// A handler of a forbidden directory is not run, and no gist is made in its place.
func TestAnAgentDirThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	w.gh(answerGist)
	w.Check = func(dir string) error { return fault.New(fault.Denied, "%s is not used.", dir) }
	require.Equal(t, share.Gist, w.ok().Via, "nothing is refused")
	w.program(w.agent, "share", "echo https://example.com/share")
	require.Equal(t, "AGENT is not used.", w.fails(fault.Denied))
	w.handler("share.js", "throw new Error()")
	require.Equal(t, "AGENT is not used.", w.fails(fault.Denied))
}

func TestAHandlerThatIsAPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(w.agent, "share.js"), 0o700))
	require.Contains(t, w.fails(fault.IO), "is a pipe, a socket or a device")
}

// Proves: O-026
func TestHandlerResults(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]share.Result{
		`return "https://example.com/1"`:                              {URL: "https://example.com/1"},
		`return " https://example.com/1\n"`:                           {URL: "https://example.com/1"},
		`return new URL("https://example.com/1")`:                     {URL: "https://example.com/1"},
		`return { url: "https://example.com/1", message: "Look!" }`:   {URL: "https://example.com/1", Message: "Look!"},
		`return { url: new URL("https://example.com/1"), other: 1n }`: {URL: "https://example.com/1"},
		`return { message: "In the\nmail." }`:                         {Message: "In the\nmail."},
		`return { url: null, message: undefined }`:                    {Message: "Session shared"},
		`return {}`:                          {Message: "Session shared"},
		``:                                   {Message: "Session shared"},
		`return null`:                        {Message: "Session shared"},
		`return ""`:                          {Message: "Session shared"},
		`return false`:                       {Message: "Session shared"},
		`return "javascript:alert(1)"`:       {URL: "javascript:alert(1)"},
		`return page.replace(/.*\//, "s3:")`: {URL: "s3:page.html"},
		// Printed output is not the answer, however long it is.
		`console.log('{"url":"https://example.com/printed"}'); console.error("x".repeat(3e6)); console.log("x".repeat(3e6)); return "https://example.com/1"`: {URL: "https://example.com/1"},
		// Its open handles do not delay the end.
		`setInterval(() => {}, 1000); return "https://example.com/1"`: {URL: "https://example.com/1"},
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.node()
			w.handler("share.mjs", "export default async function (page) { "+body+" }")
			want.Via = share.Custom
			require.Equal(t, want, w.ok())
		})
	}
}

// A handler gets the page, and the files for running it do not interfere.
func TestAHandlerGetsThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	w.handler("share.js", `
const fs = require("node:fs");
module.exports = (page, ...rest) => {
	fs.copyFileSync(page, __dirname + "/copy.html");
	return { url: "https://example.com/" + rest.length, message: fs.readFileSync(0, "utf8") + process.cwd() };
};`)
	var r share.Result
	require.NoError(t, w.folders().With(func(dir string) (err error) {
		w.write(dir+"/page.html", "the page")
		r, err = w.Share(t.Context(), share.Page{Path: dir + "/page.html", Cwd: w.bin}, func(string) {})
		return err
	}))
	require.Equal(t, share.Result{Via: share.Custom, URL: "https://example.com/0", Message: w.bin}, r)
	require.Equal(t, "the page", w.read(w.agent+"/copy.html"))
	w.requireEmpty()
}

// Compilers of TypeScript for CommonJS put the default export one level deeper.
func TestACompiledHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	w.handler("share.js", `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = () => "https://example.com/1";`)
	require.Equal(t, "https://example.com/1", w.ok().URL)
}

// If a handler fails, nothing is shared elsewhere.
// Proves: O-027
func TestHandlerFailures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`export const share = 1`:                                  "has no default export that is a function",
		`export default "https://example.com"`:                    "has no default export that is a function",
		`export default`:                                          "could not be loaded: SyntaxError: Unexpected end of input",
		`throw new Error("no token\nset it")`:                     "could not be loaded: no token",
		`import "./gone.mjs"`:                                     "could not be loaded: ",
		`export default async () => { throw new Error("boom.") }`: "failed: boom",
		`export default () => { throw "a text" }`:                 "failed: a text",
		`export default () => { throw new TypeError("odd") }`:     "failed: TypeError: odd",
		`export default () => { throw Object.create(null) }`:      "failed: something without a text was thrown",
		`export default () => { throw undefined }`:                "failed: undefined",
		`export default () => { setTimeout(() => { throw new Error("later") }); return new Promise(() => {}) }`: "failed: later",
		`export default () => { Promise.reject(new Error("unheard")); return new Promise(() => {}) }`:           "failed: unheard",
		`export default () => process.exit(3)`:                                     "ended without a result: exit status 3",
		`export default () => process.exit(0)`:                                     "ended without a result: exit status 0",
		`export default () => { console.error("bye"); process.kill(process.pid) }`: "ended without a result: bye",
		`export default () => 42`:                                                  "returned a number instead of an address, an object with url or message, or nothing",
		`export default () => () => {}`:                                            "returned a function instead of an address, an object with url or message, or nothing",
		`export default () => ["https://example.com"]`:                             "returned a list instead of an address, an object with url or message, or nothing",
		`export default () => ({ url: 1 })`:                                        "returned an object whose url is not text instead of an address, an object with url or message, or nothing",
		`export default () => "x".repeat(2e6)`:                                     "returned a result that cannot be read: it is longer than 1 MB",
		`export default () => ({ get url() { throw new Error("in a getter") } })`:  "failed: in a getter",
		`export default () => { throw new Error("x".repeat(1000)) }`:               "failed: " + strings.Repeat("x", 300) + "…",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.node()
			w.gh(answerGist)
			w.handler("share.mjs", text)
			got := w.fails(fault.IO)
			require.True(t, strings.HasPrefix(got, "AGENT/share.mjs "+want), got)
			require.True(t, strings.HasSuffix(got, "; without that file the session is shared as a gist."), got)
			require.NotContains(t, got, "\n")
			require.NoFileExists(t, w.bin+"/gh.calls")
		})
	}
}

// Proves: O-025, O-026
func TestExecutables(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]any{
		`echo https://example.com/1`:                                   share.Result{URL: "https://example.com/1"},
		`echo "Uploading..."; printf https://example.com/1`:            share.Result{URL: "https://example.com/1"},
		`echo '{"url": "https://example.com/1", "message": "Look!"}'`:  share.Result{URL: "https://example.com/1", Message: "Look!"},
		`printf '{\n"message": "In the mail."\n}\n'; echo warning >&2`: share.Result{Message: "In the mail."},
		`true`: share.Result{Message: "Session shared"},
		`test "$(cat "$1")" = "<!DOCTYPE html>the page" && test $# = 1`: share.Result{Message: "Session shared"},

		`echo "no bucket" >&2; exit 7`:       "failed: no bucket",
		`echo "no bucket on stdout"; exit 7`: "failed: no bucket on stdout",
		`exit 7`:                             "failed: exit status 7",
		`kill -9 $$`:                         "failed: signal: killed",
		`echo '{"url": 1}'`:                  "printed neither an address nor a JSON object with the strings url or message",
		`echo '{'`:                           "printed neither an address nor a JSON object with the strings url or message",
		`head -c 3000000 /dev/zero`:          "printed too much output",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gh(answerGist)
			w.program(w.agent, "share", script)
			if r, ok := want.(share.Result); ok {
				r.Via = share.Custom
				require.Equal(t, r, w.ok())
				return
			}
			require.Equal(t, fmt.Sprintf("AGENT/share %s; without that file the session is shared as a gist.", want), w.fails(fault.IO))
			require.NoFileExists(t, w.bin+"/gh.calls")
		})
	}
}

// An unusable handler is not skipped: its owner did not want a gist.
// Proves: O-025
func TestHandlersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gh(answerGist)
	w.handler("share", "echo https://example.com/1")
	require.Equal(t, "AGENT/share is not executable; without that file the session is shared as a gist.", w.fails(fault.IO))
	w.handler("share.mjs", "export default () => {}")
	require.Equal(t, "AGENT/share.mjs needs bun or Node.js, and neither is on the PATH; without that file the session is shared as a gist.", w.fails(fault.NotFound))
	require.NoError(t, os.Symlink("share.ts", w.agent+"/share.ts"))
	require.Contains(t, w.fails(fault.IO), "AGENT/share.ts cannot be read: ", "a link to itself")
	require.NoFileExists(t, w.bin+"/gh.calls")
}

// TypeScript is for bun, and for a Node.js that supports it by default or with a flag.
// Proves: O-025
func TestTypeScript(t *testing.T) {
	t.Parallel()
	const text = `export default () => "https://example.com/1"`
	fakeNode := func(says string) string {
		return `echo "$1" >>"$0.calls"
case "$1" in
-p) echo "` + says + `"; exit;;
--experimental-strip-types) shift;;
esac
exec ` + typesNode(t) + `"$@"`
	}
	for says, calls := range map[string]string{
		"v24.0.0 always": "-p\n/",
		"v22.6.0 flag":   "-p\n--experimental-strip-types\n",
	} {
		w := newWorld(t)
		w.program(w.bin, "node", fakeNode(says))
		w.handler("share.ts", text)
		require.Equal(t, "https://example.com/1", w.ok().URL)
		require.True(t, strings.HasPrefix(w.read(w.bin+"/node.calls"), calls))
	}
	w := newWorld(t)
	w.gh(answerGist)
	w.program(w.bin, "node", strings.Replace(fakeNode("v20.1.2 never"), typesNode(t), nodePath(t)+" ", 1))
	w.handler("share.ts", `import { url } from "./other.ts"; export default () => url`)
	w.handler("other.ts", `export const url = "https://example.com/1"`)
	require.Equal(t, "https://example.com/1", w.ok().URL, "it has no types")
	w.handler("share.ts", `const url: string = "https://example.com/1"; export default () => url`)
	require.Equal(t, "AGENT/share.ts needs bun or Node.js 22.6 or later for TypeScript; Node.js v20.1.2 failed: "+
		"SyntaxError: Missing initializer in const declaration; without that file the session is shared as a gist.", w.fails(fault.NotFound))
	w.handler("share.ts", `export default () => { throw new SyntaxError("mine") }`)
	require.Equal(t, "AGENT/share.ts failed: SyntaxError: mine; without that file the session is shared as a gist.", w.fails(fault.IO))
	require.NoFileExists(t, w.bin+"/gh.calls")

	w.write(w.bin+"/node.sh", "echo broken >&2; exit 1")
	require.Equal(t, "AGENT/share.ts could not be run: Node.js did not report its version: broken; without that file the session is shared as a gist.",
		w.fails(fault.IO))
	w.bun()
	w.handler("share.ts", text)
	require.Equal(t, "https://example.com/1", w.ok().URL)
	require.FileExists(t, w.bin+"/bun.calls")
}

// Every version of Node.js can evaluate the expression.
// Proves: O-025
func TestNodeReportsTypeScriptSupport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	w.handler("share.ts", `export default (page: string): string => "https://example.com/1"`)
	r, err := w.share(t.Context())
	if err == nil {
		require.Equal(t, "https://example.com/1", r.URL)
		return
	}
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Regexp(t, `needs bun or Node\.js 22\.6 or later for TypeScript; Node\.js v\d+\.\d+\.\d+ failed: SyntaxError: `, err.Error())
}

// Proves: O-030
func TestCancelEndsAHandler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.node()
	script, h := w.hang("")
	w.write(w.agent+"/hang.sh", script)
	w.handler("share.mjs", `import { spawnSync } from "node:child_process";
export default () => spawnSync("/bin/sh", ["`+w.agent+`/hang.sh"])`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		h.begun()
		cancel()
	}()
	_, err := w.share(ctx)
	require.EqualError(t, err, "Share cancelled")
	require.Len(t, strings.Fields(h.printed), 2)
	h.requireGone()
}

func TestOpenable(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://example.com/a?b#c": true, "http://localhost:1/": true, "HTTPS://example.com": true,
		"": false, "example.com": false, "javascript:alert(1)": false, "file:///etc/passwd": false, "data:text/html,x": false,
		"https:example.com": false, "https://": false, "command:workbench.action.quit": false, "vscode://x/y": false, "https://a b": false, "https://a/\n": false,
	} {
		require.Equal(t, want, share.Openable(address), address)
	}
}
