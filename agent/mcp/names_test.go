package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

var dialects = []session.Dialect{session.Pi, session.Omp, session.Xcsh}

// long is the tool with the long name whose names the programs have recorded.
const long = "a_tool_with_a_name_that_is_a_good_deal_longer_than_sixty_four_characters"

func TestToolsHaveTheNamesThatTheProgramsGiveThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect            session.Dialect
		server, tool, want string
	}{
		{session.Pi, "Probe-One", "Add.Numbers-2", "mcp__Probe_One__Add_Numbers_2"},
		{session.Pi, "Probe-One", "echo", "mcp__Probe_One__echo"},
		{session.Pi, "Probe-One", long, "mcp__Probe_One__a_tool_with_a_name_that_is_a_good_deal__edcd8858"},
		{session.Pi, "é", "ü", "mcp______"},
		{session.Omp, "Probe-One.x", "Add.Numbers-2", "mcp__probe_one_x_add_numbers_2"},
		{session.Omp, "Probe-One.x", "echo", "mcp__probe_one_x_echo"},
		{session.Omp, "puppeteer", "puppeteer_screenshot", "mcp__puppeteer_screenshot"},
		{session.Omp, "--a--b", "__c___d__", "mcp__a_b_c_d"},
		{session.Omp, "!", "?", "mcp__server_tool"},
		{session.Xcsh, "Probe-One.x", "Add.Numbers-2", "mcp_probe_one_x_add_numbers"},
		{session.Xcsh, "s3", "get2", "mcp_s_get"},
		{session.Xcsh, "puppeteer", "puppeteer_screenshot", "mcp_puppeteer_screenshot"},
		{session.Xcsh, "42", "7", "mcp_server_tool"},
	} {
		require.Equal(t, c.want, name(c.dialect, c.server, c.tool))
	}
	// omp's own hash is another one.
	require.Regexp(t, `^mcp__probe_one_x_a_tool_with_a_name_that_is_a_good_deal_[0-9a-f]{8}$`, name(session.Omp, "Probe-One.x", long))
}

// A name of the limit is kept, and a longer one has exactly the limit.
func TestNoNameIsLongerThanTheLimit(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		fits := maxName - len(plainName(d, "docs", "x")) + 1
		require.Equal(t, plainName(d, "docs", strings.Repeat("x", fits)), name(d, "docs", strings.Repeat("x", fits)))
		got := name(d, "docs", strings.Repeat("x", fits+1))
		require.Len(t, got, maxName)
		require.NotEqual(t, got, name(d, "docs", strings.Repeat("x", fits+2)), "two long names differ")
	}
}

func TestToolsWithOneNameGetDifferentOnes(t *testing.T) {
	t.Parallel()
	tools := []key{{"s", "get-x"}, {"s", "get.x"}, {"s", "get_x"}}
	for _, d := range dialects {
		names := assign(d, tools)
		plain, seen := 0, map[string]bool{}
		for _, n := range names {
			require.False(t, seen[n], n)
			seen[n] = true
			if n == plainName(d, "s", "get_x") {
				plain++
			}
		}
		require.Len(t, seen, 3)
		require.Equal(t, map[session.Dialect]int{session.Pi: 0, session.Omp: 1, session.Xcsh: 1}[d], plain, d)
	}
	require.Equal(t, "mcp__s_get_x", assign(session.Omp, tools)[key{"s", "get-x"}], "the first one of the sorted list")
	require.Equal(t, "mcp_s_get_x", assign(session.Xcsh, tools)[key{"s", "get_x"}], "the last one")
	require.Equal(t, "mcp_s_v", assign(session.Xcsh, []key{{"s", "v1"}, {"s", "v2"}})[key{"s", "v2"}])
	digits := assign(session.Omp, []key{{"s", "v1"}, {"s", "v2"}})
	require.Equal(t, "mcp__s_v1", digits[key{"s", "v1"}])
	require.Equal(t, "mcp__s_v2", digits[key{"s", "v2"}])
}

// A conversation continues with the spelling of whichever program it used before.
func TestEverySpellingFindsTheTool(t *testing.T) {
	t.Parallel()
	add, longer := key{"Probe-One.x", "Add.Numbers-2"}, key{"Probe-One.x", long}
	for _, d := range dialects {
		b := newBook(assign(d, []key{add, longer, {"Probe-One.x", "echo"}, {"other", "echo"}}))
		for spelling, want := range map[string]key{
			"mcp__Probe_One_x__Add_Numbers_2":                                  add,
			"mcp__probe_one_x_add_numbers_2":                                   add,
			"mcp_probe_one_x_add_numbers":                                      add,
			"mcp__probe_one_x_add_numbers":                                     add, // omp's before it kept digits
			"xd://mcp__probe_one_x_add_numbers_2":                              add,
			" xd://mcp__probe_one_x_add_numbers_2":                             add,
			"mcp__Probe-One.x__Add.Numbers-2":                                  add, // as models write it
			"mcp__probe_one_x__add_numbers_2":                                  add,
			"mcp__probe_one_x_a_tool_with_a_name_that_is_a_good_deal_1gi0l9d7": longer, // recorded by omp
			plainName(session.Xcsh, "Probe-One.x", long):                       longer,
			name(session.Pi, "Probe-One.x", long):                              longer,
			"mcp__other_echo":                                                  {"other", "echo"},
		} {
			got, ok := b.find(spelling)
			require.True(t, ok, "%s: %s", d, spelling)
			require.Equal(t, want, got)
		}
		for _, none := range []string{"", "xd://", "echo", "mcp_", "mcp__probe_one_x", "read", strings.Repeat("m", maxName)} {
			_, ok := b.find(none)
			require.False(t, ok, none)
		}
	}
}

// A call must not reach a tool that the model may not have meant.
func TestAnAmbiguousSpellingFindsNothing(t *testing.T) {
	t.Parallel()
	b := newBook(assign(session.Pi, []key{{"s", "v1"}, {"s", "v2"}, {"s", long + "1"}, {"s", long + "2"}}))
	for _, n := range []string{"mcp_s_v", plainName(session.Omp, "s", long)[:keptName] + "_0123456z"} {
		_, ok := b.find(n)
		require.False(t, ok, n)
	}
	_, ok := b.find("mcp__s_v1")
	require.True(t, ok)
	// A name that is declared wins over one that another program would give another tool.
	b = newBook(assign(session.Xcsh, []key{{"a", "b1"}, {"a", "b"}}))
	k, ok := b.find("mcp_a_b")
	require.True(t, ok)
	require.Equal(t, key{"a", "b"}, k)
}

func TestAServerIsRecognisedByTheNameOfItsTool(t *testing.T) {
	t.Parallel()
	servers := []string{"docs", "docs-2", "Probe-One.x"}
	for n, want := range map[string]string{
		"mcp__docs__old": "docs", "mcp__docs_2_old": "docs-2", "mcp_probe_one_x_gone": "Probe-One.x", "xd://mcp__docs_old": "docs",
		"read": "", "mcp__unknown_x": "",
	} {
		require.Equal(t, want, serverOf(n, servers), n)
	}
}

// Every name is one that services accept, whatever a server says.
func FuzzNames(f *testing.F) {
	f.Add("Probe-One", "echo")
	f.Add("", "\x00")
	f.Add("a\nb", "__")
	f.Fuzz(func(t *testing.T, server, tool string) {
		for _, d := range dialects {
			n := name(d, server, tool)
			require.Regexp(t, fmt.Sprintf(`^[A-Za-z0-9_]{1,%d}$`, maxName), n)
			k, ok := newBook(assign(d, []key{{server, tool}})).find(deviceScheme + n)
			require.True(t, ok)
			require.Equal(t, key{server, tool}, k)
		}
	})
}
