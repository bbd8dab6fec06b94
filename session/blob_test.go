package session_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// TestReferencesAreResolvedAnywhere: the programs resolve them only in the
// content of messages.
// Proves: X-131
func TestReferencesAreResolvedAnywhere(t *testing.T) {
	t.Parallel()
	raw, url := pixels(900), []byte("data:image/png;base64,QUJD")
	blobs := memoryBlobs{hexSum(raw): raw, hexSum(url): url}
	data := base64.StdEncoding.EncodeToString(raw)
	for name, format := range map[string]string{
		"a message":                     `{"type":"message","message":{"content":[{"type":"image","data":"%s"}]}}`,
		"an extension's message":        `{"type":"custom_message","content":[{"type":"image","data":"%s"}]}`,
		"an extension's data":           `{"type":"custom","data":{"content":[{"type":"text"},{"type":"image","data":"%s"}]}}`,
		"a list in an extension's data": `{"type":"custom","data":[[{"data":"%s","mimeType":"image/png"}]]}`,
		"a tool's details":              `{"type":"message","message":{"details":{"content":[{"type":"image","data":"%s"}]}}}`,
		"a mentioned file":              `{"type":"message","message":{"role":"fileMention","files":[{"image":{"data":"%s","mimeType":"image/png"}}]}}`,
		"a type nobody knows":           `{"type":"unheard_of","x":{"type":"image_generation_call","result":"%s","n":1.0}}`,
	} {
		line, missing := session.ResolveBlobs([]byte(strings.Replace(format, "%s", blobRef(raw), 1)), blobs)
		require.Zero(t, missing)
		require.Equal(t, strings.Replace(format, "%s", data, 1), string(line), name)
	}
	line, _ := session.ResolveBlobs([]byte(`{"data":{"image_url":"`+blobRef(url)+`"}}`), blobs)
	require.Equal(t, `{"data":{"image_url":"`+string(url)+`"}}`, string(line))

	text := `{"type":"message","message":{"content":[{"type":"text","text":"` + blobRef(raw) + `"},{"type":"document","data":"` + blobRef(raw) + `"}]}}`
	line, missing := session.ResolveBlobs([]byte(text), blobs)
	require.Zero(t, missing)
	require.Equal(t, text, string(line), "what is no image is not touched")
}

// TestAMissingImageKeepsItsReference: it is reported, nothing fails, and a rewrite keeps
// the reference in case the image is restored.
// Proves: X-130
func TestAMissingImageKeepsItsReference(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	ref := blobRef(pixels(900))
	image := strings.Replace(st.User("cccccccc", "bbbbbbbb", "@"), `"@"`, `[{"type":"image","data":"`+ref+`","mimeType":"image/png"}]`, 1)
	kit.Put(t, fs, kit.Filed, kit.Conversation()+st.File(image))
	l, err := newStoreWithBlobs(fs).Open(kit.Filed)
	require.NoError(t, err)
	ctx, problems, err := l.Context()
	require.NoError(t, err)
	require.True(t, hasProblem(problems, session.MissingBlob))
	require.Contains(t, string(ctx.Messages[2]), ref)
	_, err = l.SetTitle(session.Title{Text: "rewritten"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.Contains(t, kit.Content(t, fs, kit.Filed), image+"\n")
}
