package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAListIsParsed(t *testing.T) {
	t.Parallel()
	list, err := parse("a.txt", "# A comment.\n\nX-001: a/b.TestOne, TestScripts/two\na/b/c.go: one: too few\nhangs\n-  \tif a {\n- \n- \t}\n+ \tif b {\n\n\nX-002: a.TestTwo\na.go: gone\n- x\n+\n")
	require.NoError(t, err)
	require.Equal(t, []mutant{
		{
			row: "X-001", tests: []string{"a/b.TestOne", "TestScripts/two"}, file: "a/b/c.go", bug: "one: too few", hangs: true,
			old: " \tif a {\n\n\t}", new: "\tif b {", from: "a.txt:3",
		},
		{row: "X-002", tests: []string{"a.TestTwo"}, file: "a.go", bug: "gone", old: "x", from: "a.txt:12"},
	}, list)
	require.Len(t, chosen(list, ""), 2)
	require.Len(t, chosen(list, "TestTwo"), 1)
	require.Len(t, chosen(list, "a/b/c.go"), 1)
	require.Empty(t, chosen(list, "X-003"))
}

func TestMistakesInAListHaveALine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no change":           "X-001: a.TestOne\na.go: bug\n",
		"no row":              "a.TestOne\na.go: bug\n- a\n+ b\n",
		"no bug":              "X-001: a.TestOne\na.go\n- a\n+ b\n",
		"a test":              "X-001: a.TestOne\na_test.go: bug\n- a\n+ b\n",
		"not Go":              "X-001: a.TestOne\na.md: bug\n- a\n+ b\n",
		"outside":             "X-001: a.TestOne\n../a.go: bug\n- a\n+ b\n",
		"absolute":            "X-001: a.TestOne\n/a.go: bug\n- a\n+ b\n",
		"nothing old":         "X-001: a.TestOne\na.go: bug\n+ b\n",
		"only blanks":         "X-001: a.TestOne\na.go: bug\n-   \n+ b\n",
		"old text behind new": "X-001: a.TestOne\na.go: bug\n- a\n+ b\n- c\n",
		"the same text":       "X-001: a.TestOne\na.go: bug\n- a\n+ a\n",
		"another sign":        "X-001: a.TestOne\na.go: bug\n- a\n* b\n",
	} {
		_, err := parse("a.txt", "\n"+text)
		require.ErrorContains(t, err, "a.txt:2: ", name)
	}
}
