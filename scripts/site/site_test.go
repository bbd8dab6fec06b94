package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// root is the root of the repository.
const root = "../.."

func list(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, summary))
	require.NoError(t, err)
	return pages(string(text))
}

func TestEveryPageOfDocsIsListedOnce(t *testing.T) {
	t.Parallel()
	all := list(t)
	require.Equal(t, "README.md", all[0])
	docs := os.DirFS(filepath.Join(root, "docs"))
	require.NoError(t, fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		if page := "docs/" + name; err == nil && path.Ext(name) == ".md" && page != summary {
			assert.Contains(t, all, page, "add it to docs/SUMMARY.md")
		}
		return err
	}))
	sorted := slices.Sorted(slices.Values(all))
	require.Equal(t, slices.Compact(slices.Clone(sorted)), sorted)
}

func TestLinksLeadToPagesOrToTheRepository(t *testing.T) {
	t.Parallel()
	all := []string{"README.md", "docs/acp.md", "docs/adr/README.md", "docs/adr/0013-acp.md"}
	for link, want := range map[string]string{
		"acp.md#editors":             "../docs/acp.md#editors",
		"../README.md#install":       "../index.md#install",
		"adr":                        "../docs/adr/index.md",
		"adr/README.md":              "../docs/adr/index.md",
		"images/vscode-chat.png":     "../docs/images/vscode-chat.png",
		"#here":                      "#here",
		"https://example.com/a.md#b": "https://example.com/a.md#b",
		"../Makefile":                repository + "blob/HEAD/Makefile",
		"../agent":                   repository + "tree/HEAD/agent",
		"../bench/README.md#sets":    repository + "blob/HEAD/bench/README.md#sets",
		repository + "blob/HEAD/docs/acp.md#editors":             "../docs/acp.md#editors",
		repository + "raw/HEAD/docs/images/vscode-chat.png":      "../docs/images/vscode-chat.png",
		repository + "blob/HEAD/scripts/test.sh":                 repository + "blob/HEAD/scripts/test.sh",
		"https://github.com/xcsh-ls/xcsh.nvim/blob/HEAD/acp.md#": "https://github.com/xcsh-ls/xcsh.nvim/blob/HEAD/acp.md#",
	} {
		require.Equal(t, want, destination(root, "docs/hooks.md", link, all), link)
	}
	require.Equal(t, "docs/adr/0013-acp.md", destination(root, "README.md", "docs/adr/0013-acp.md", all))
	text := "[a](../Makefile) `[b](../Makefile)`\n```\n[c](../Makefile)\n```\n"
	require.Equal(t, "[a]("+repository+"blob/HEAD/Makefile)"+text[16:], rewrite(root, "docs/hooks.md", text, all))
}

// built returns the directory of a new site. XCSH_MDBOOK is the program that builds it.
func built(t *testing.T) string {
	t.Helper()
	mdbook := os.Getenv("XCSH_MDBOOK")
	if mdbook == "" {
		t.Skip("set XCSH_MDBOOK to a mdbook, as scripts/test.sh does")
	}
	out := t.TempDir()
	require.NoError(t, build(t.Context(), root, mdbook, out))
	return out
}

// document is what a built page has.
type document struct {
	ids   map[string]bool
	links []string // to anything, also to images
	loads []string // what a browser loads with the page
}

// read parses a built page.
func read(t *testing.T, name string) document {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	tree, err := html.Parse(file)
	require.NoError(t, err)
	d := document{ids: map[string]bool{}}
	for node := range tree.Descendants() {
		for _, a := range node.Attr {
			switch {
			case a.Key == "id", a.Key == "name" && node.Data == "a":
				d.ids[a.Val] = true
			case a.Key == "src", a.Key == "href" && node.Data == "link":
				d.loads = append(d.loads, a.Val)
			case a.Key == "href" && node.Data == "a":
				d.links = append(d.links, a.Val)
			}
		}
	}
	return d
}

func TestLinksOfTheSiteLeadSomewhere(t *testing.T) {
	t.Parallel()
	out := built(t)
	documents := map[string]document{}
	require.NoError(t, filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".html" {
			rel, relErr := filepath.Rel(out, name)
			require.NoError(t, relErr)
			documents[filepath.ToSlash(rel)] = read(t, name)
		}
		return err
	}))
	for _, page := range list(t) {
		name := strings.TrimSuffix(page, ".md") + ".html"
		if path.Base(page) == "README.md" {
			name = path.Join(path.Dir(page), "index.html")
		}
		require.Contains(t, documents, name)
	}
	links := 0
	for name, d := range documents {
		for _, load := range d.loads {
			assert.NotContains(t, load, ":", "%s: nothing is loaded from elsewhere", name)
		}
		for _, link := range append(d.links, d.loads...) {
			if own.MatchString(link) {
				file, _, _ := strings.Cut(own.ReplaceAllString(link, ""), "#")
				assert.FileExists(t, filepath.Join(root, file), "%s: %s", name, link)
			}
			if strings.Contains(link, ":") || name == "404.html" { // whose links begin at the root of a server
				continue
			}
			links++
			file, anchor, _ := strings.Cut(link, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			_, err := os.Stat(filepath.Join(out, target))
			if assert.NoError(t, err, "%s: %s does not exist", name, link) && anchor != "" {
				assert.True(t, documents[target].ids[anchor], "%s: no such heading: %s", name, link)
			}
		}
	}
	require.Greater(t, links, 1000)
	text, err := os.ReadFile(filepath.Join(out, "docs", "troubleshooting.html"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "Pass --model PROVIDER/ID", "messages keep their characters")
	checkIndex(t, out)
}

// checkIndex checks that the index of the search has a word on the page that explains it, and no page of the coverage.
func checkIndex(t *testing.T, out string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, "searchindex*.js"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	// The index is JSON in a string of JavaScript.
	_, object, _ := strings.Cut(string(text), "JSON.parse('")
	object, _, _ = strings.Cut(object, "'))")
	object = strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(object)
	var index struct {
		Pages []string `json:"doc_urls"`
		Index struct {
			Store struct {
				Texts map[string]struct{ Title, Body string } `json:"docs"`
			} `json:"documentStore"`
		}
	}
	require.NoError(t, json.NewDecoder(strings.NewReader(object)).Decode(&index))
	require.NotEmpty(t, index.Pages)
	var with []string
	for _, one := range index.Index.Store.Texts {
		if strings.Contains(strings.ToLower(one.Body), "telemetry") {
			with = append(with, one.Title)
		}
	}
	assert.Contains(t, with, "Privacy")
	for _, page := range index.Pages {
		assert.NotContains(t, page, "docs/coverage")
	}
}
