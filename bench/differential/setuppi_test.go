//go:build peers && unix

package differential

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// placeholders is a template with all forms of arguments that pi has.
const placeholders = "---\ndescription: Check\nargument-hint: <what>\n---\n1=$1 2=$2 3=$3 9=$9 all=$@ named=$ARGUMENTS\nslice=${@:2} slice2=${@:1:2} default=${4:-none} whole=${@:-none} again=$1$2\n"

// withPi is a user of pi with skills, templates and instructions of their own and of a folder that pi trusts.
func withPi(t *testing.T) *user {
	t.Helper()
	u := newUserWithoutPrograms(t)
	u.write("home/.pi/agent/AGENTS.md", "Answer in verse.\n")
	u.write("home/.pi/agent/skills/tides/SKILL.md", "---\nname: tides\ndescription: Tell the time of high <water> & low.\n---\n\nAsk for the harbour.\n\n")
	u.write("home/.pi/agent/skills/hidden/SKILL.md", "---\nname: hidden\ndescription: Nobody is told.\ndisable-model-invocation: true\n---\nSecret steps.\n")
	u.write("home/.pi/agent/prompts/check.md", placeholders)
	u.write("home/.pi/agent/prompts/both.md", "The user's.\n")
	u.write("work/.pi/prompts/both.md", "\nThe project's, without arguments.\n\n")
	u.write("work/.pi/skills/pdf-tools/SKILL.md", pdfSkill)
	u.write("work/.pi/APPEND_SYSTEM.md", "Sign with a name.\n")
	u.write("work/AGENTS.md", "Keep to the style of the house.\n")
	trusted, err := json.Marshal(object{u.work: true})
	require.NoError(t, err)
	u.write("home/.pi/agent/trust.json", string(trusted))
	u.models(filepath.Join(u.home, ".xcsh", "agent"), u.service.URL(provider.AnthropicMessages))
	return u
}

// invocations are prompts that stand for other texts.
var invocations = []string{
	"/skill:pdf-tools extract a.pdf", "/skill:tides", "/skill:hidden  two  words ",
	`/check alpha "be ta" gamma`, "/check", `/check it's "un closed`, `/check 'single quoted' "a\"b" c"d e"f`, "/check $2 b", "/both ignored words",
}

// instructed returns the paths and texts of the instruction files in a system prompt, in order.
func instructed(pattern, system string) (all [][]string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(system, -1) {
		all = append(all, m[1:])
	}
	return all
}

// What a prompt that names a skill or a template stands for, and what the system prompt says about skills and instructions, is the same
// with pi and with us, in the same session. pi continues with our messages.
func TestAConversationOfPiKeepsItsSetup(t *testing.T) {
	t.Parallel()
	u := withPi(t)
	u.service.Script("theirs", providertest.Reply{Text: "Done."})
	p := startProgram(t, piProgram, u.service, u.home, u.work, "")
	for _, text := range invocations {
		p.prompt(text, "Done.")
	}
	p.stop()

	ed := u.editorWith(lsptest.Fields{"engine": "own", "model": "fake/theirs"})
	u.do(ed, "xcsh.resume", lsptest.Fields{"target": p.file})
	for _, text := range invocations {
		require.Contains(t, string(u.do(ed, "xcsh.prompt", lsptest.Fields{"text": text})), "Done.")
	}
	ed.Shutdown()
	again := startProgram(t, piProgram, u.service, u.home, u.work, p.file)
	again.prompt("and back", "Done.")
	again.stop()

	requests := u.service.Requests()
	n := len(invocations)
	require.Len(t, requests, 2*n+1)
	for i, text := range invocations {
		theirs, ours := requests[i].LastText(), requests[n+i].LastText()
		require.NotEqual(t, text, theirs, "pi expands it")
		require.Equal(t, theirs, ours, text)
	}
	theirs, ours, back := requests[n-1], requests[2*n-1], requests[2*n]
	for i, m := range ours.Messages {
		require.Equal(t, m.PlainText(), back.Messages[i].PlainText(), "pi goes on with our messages")
	}
	require.Len(t, back.Messages, len(ours.Messages)+2)

	const skills = `(?s)(<available_skills>.*</available_skills>)`
	require.Len(t, firsts(skills, theirs.System), 1)
	require.Equal(t, firsts(skills, theirs.System), firsts(skills, ours.System))
	files := instructed(`(?s)<project_instructions path="([^"]*)">\s*(.*?)\s*</project_instructions>`, theirs.System)
	require.Len(t, files, 2)
	require.Equal(t, files, instructed(`(?s)<file path="([^"]*)">\s*(.*?)\s*</file>`, ours.System))
	for _, r := range []providertest.Request{theirs, ours} {
		require.Contains(t, r.System, "Sign with a name.")
		require.NotContains(t, r.System, "Nobody is told.")
	}
}
