package acp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Another program continues from an entry before the user's prompt. The client gets a notice, once, and
// the user decides with a command.
func TestANoticeAboutAnotherProgramsBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	w.models.Script("m", providertest.Reply{Text: "a1"}, providertest.Reply{Text: "a2"}, providertest.Reply{Text: "a3"}, providertest.Reply{Text: "a4"})
	c := w.connect(t, object{"session": object{"notices": object{}}})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	sent := func() (all string) {
		reqs := w.models.Requests()
		for _, m := range reqs[len(reqs)-1].Messages {
			all += m.PlainText() + "\n"
		}
		return all
	}
	require.Equal(t, "end_turn", c.prompt(id1, "mine"))
	w.file(t, file1, w.read(t, file1)+st.File(st.User("f0000001", "bbbbbbbb", "theirs")))
	require.Equal(t, "end_turn", c.prompt(id1, "more of mine"))
	require.NotContains(t, sent(), "theirs")
	notice := c.awaitUpdate(id1, "the notice", func(u update) bool { return u.Kind == "notice" && strings.Contains(u.Title, "branch") })
	require.Equal(t, "Another program continued on another branch. To continue there, use /branch follow. To continue here, use /branch stay.", notice.Title)
	w.file(t, file1, w.read(t, file1)+st.File(st.User("f0000002", "f0000001", "theirs again")))
	require.Equal(t, "end_turn", c.prompt(id1, "even more"))
	notices := 0
	for _, u := range c.updates(id1) {
		if u.Kind == "notice" && strings.Contains(u.Title, "another branch") {
			notices++
		}
	}
	require.Equal(t, 1, notices)

	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/branch maybe")}}, -32602, "Use /branch follow or /branch stay.")
	require.Equal(t, "end_turn", c.prompt(id1, "/branch follow"))
	require.Equal(t, "end_turn", c.prompt(id1, "after theirs"))
	require.Contains(t, sent(), "theirs again")
	require.NotContains(t, sent(), "mine")
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("/branch stay")}}, -32002, "No other program has continued this session on another branch.")
}
