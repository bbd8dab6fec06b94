package frontmatter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/xcsh-ls/xcsh-ls/agent/frontmatter"
)

func TestSplit(t *testing.T) {
	for content, want := range map[string]struct {
		description, body string
	}{
		"---\ndescription: A\n---\nBody\n":                  {"A", "Body"},
		"\uFEFF---\r\ndescription: A\r\n---\r\nBody\r\n":    {"A", "Body"},
		"---\ndescription: a: b: c\nglobs: *.ts\n---\nBody": {"a: b: c", "Body"},
		"Body only\n":                                          {"", "Body only"},
		"---\ndescription: never closed":                       {"", "---\ndescription: never closed"},
		"---\n---\nBody":                                       {"", "Body"},
		"---\ndescription: [a list]\n---\nBody":                {"", "Body"},
		"---\na: &a [x,x]\nb: [*a,*a]\ndescription: A\n---\nB": {"A", "B"},
		"---\n" + strings.Repeat("x", 70<<10) + "\n---\nBody":  {"", "---\n" + strings.Repeat("x", 70<<10) + "\n---\nBody"},
	} {
		meta, body := frontmatter.Split(content)
		assert.Equal(t, want.description, frontmatter.Text(meta, "description"), content)
		assert.Equal(t, want.body, body)
	}
	meta, _ := frontmatter.Split("---\ndisable-model-invocation: true\n---\n")
	assert.True(t, frontmatter.True(meta, "disableModelInvocation"))
	assert.False(t, frontmatter.True(meta, "hide"))
}

func FuzzSplit(f *testing.F) {
	f.Add("---\na: &a [x]\nb: *a\n---\n")
	f.Add("---\n? {a: b}\n: c\n---\n")
	f.Fuzz(func(t *testing.T, content string) {
		meta, body := frontmatter.Split(content)
		_, _ = frontmatter.Text(meta, "name"), frontmatter.True(meta, "name")
		if len(body) > len(content)*3 {
			t.Fatal(len(body))
		}
	})
}
