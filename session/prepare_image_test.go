package session_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// memoryBlobs is a blob store in memory.
type memoryBlobs map[string][]byte

func (m memoryBlobs) PutBlob(data []byte) (string, error) {
	hash := hexSum(data)
	m[hash] = bytes.Clone(data)
	return hash, nil
}

func (m memoryBlobs) Blob(hash string) ([]byte, error) {
	if data, ok := m[hash]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

// hashOnly is a blob store that stores nothing.
type hashOnly struct{}

func (hashOnly) PutBlob(data []byte) (string, error) { return hexSum(data), nil }

// fullDisk is a blob store that cannot store anything.
type fullDisk struct{ tries int }

var errFull = errors.New("disk full")

func (d *fullDisk) PutBlob([]byte) (string, error) {
	d.tries++
	return "", fmt.Errorf("try %d: %w", d.tries, errFull)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func blobRef(data []byte) string { return "blob:sha256:" + hexSum(data) }

// pixels returns n bytes without structure, the same ones every time.
func pixels(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*i>>3 + i*7)
	}
	return b
}

// Proves, F-17
func TestPrepareMovesImagesOutOfContentLists(t *testing.T) {
	t.Parallel()
	raw := pixels(770)
	data := base64.StdEncoding.EncodeToString(raw) // 1028 units
	moved := func(format string) (in, out string) {
		return fmt.Sprintf(format, data), fmt.Sprintf(format, blobRef(raw))
	}
	for name, format := range map[string]string{
		"in a message":                  `{"message":{"content":[{"type":"image","data":"%s","mimeType":"image/png"}]}}`,
		"in an extension's message":     `{"type":"custom_message","content":[{"data":"%s","type":"image"}]}`,
		"in an extension's data":        `{"data":{"content":[{"data":"%s","type":"image"}]}}`,
		"in a tool's details":           `{"message":{"details":{"content":[1,{"data":"%s","type":"image"}]}}}`,
		"in lists in lists":             `{"content":[[[{"data":"%s","type":"image"}]]]}`,
		"in a content within a content": `{"content":[{"type":"tool","content":[{"data":"%s","type":"image"}]}]}`,
		"with everything else kept":     `{ "content" : [ { "type" : "image" , "data" : "%s" , "n":1.0 } ] }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, want := moved(format)
			sink := memoryBlobs{}
			out, err := session.Prepare([]byte(in), sink)
			require.NoError(t, err)
			require.Equal(t, want, string(out))
			require.Equal(t, memoryBlobs{hexSum(raw): raw}, sink)
			again, err := session.Prepare(out, sink)
			require.NoError(t, err)
			require.True(t, sameMemory(out, again))
		})
	}
	for size, count := range map[int]int{765: 0, 768: 1} { // 1020 and 1024 units
		sink := memoryBlobs{}
		_, err := session.Prepare(fmt.Appendf(nil, `{"content":[{"type":"image","data":"%s"}]}`, base64.StdEncoding.EncodeToString(pixels(size))), sink)
		require.NoError(t, err)
		require.Len(t, sink, count, "%d bytes", size)
	}
}

func TestPrepareLeavesOtherImagesInline(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString(pixels(768)) // 1024 units
	image := func(data string) string { return `{"content":[{"type":"image","data":"` + data + `"}]}` }
	for name, line := range map[string]string{
		"an image of 1023 units":              image(data[:1022] + "="),
		"an image that is not in a list":      `{"content":{"type":"image","data":"` + data + `"}}`,
		"an image in a list of another name":  `{"images":[{"type":"image","data":"` + data + `"}]}`,
		"an image in an object in the list":   `{"content":[{"image":{"type":"image","data":"` + data + `"}}]}`,
		"data that is no image":               `{"content":[{"type":"document","data":"` + data + `"}]}`,
		"a long text that is a reference":     image("blob:sha256:" + strings.Repeat("0", 1100)),
		"data with a foreign character":       image(data[:500] + "*" + data[500:]),
		"data with padding in the middle":     image(data[:500] + "==" + data[500:]),
		"data one character too long":         image(data + "A"),
		"data that is nothing but space":      image(strings.Repeat(" ", 2000)),
		"an image deeper than the reader is":  `{"a":` + strings.Repeat("[", 300) + image(data) + strings.Repeat("]", 300) + `}`,
		"an image whose last data is no text": `{"content":[{"type":"image","data":"` + data + `","data":1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := memoryBlobs{}
			out, err := session.Prepare([]byte(line), sink)
			require.NoError(t, err)
			equalText(t, line, string(out))
			require.Empty(t, sink)
		})
	}
}

func TestPrepareDecodesImagesLeniently(t *testing.T) {
	t.Parallel()
	raw := pixels(1000) // ends with "==" of padding
	std := base64.StdEncoding.EncodeToString(raw)
	require.True(t, strings.ContainsAny(std, "+") && strings.ContainsAny(std, "/"))
	for name, data := range map[string]string{
		"standard":          std,
		"no padding":        strings.TrimRight(std, "="),
		"half the padding":  strings.TrimSuffix(std, "="),
		"URL-safe":          base64.URLEncoding.EncodeToString(raw),
		"URL-safe, bare":    base64.RawURLEncoding.EncodeToString(raw),
		"newlines":          std[:76] + `\n` + std[76:152] + `\r\n` + std[152:],
		"spaces and tabs":   " " + std[:9] + `\t` + std[9:] + " ",
		"escaped slashes":   strings.ReplaceAll(std, "/", `\/`),
		"escaped by number": strings.Replace(std, std[:1], fmt.Sprintf(`\u%04x`, std[0]), 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := memoryBlobs{}
			out, err := session.Prepare([]byte(`{"content":[{"type":"image","data":"`+data+`"}]}`), sink)
			require.NoError(t, err)
			require.Equal(t, `{"content":[{"type":"image","data":"`+blobRef(raw)+`"}]}`, string(out))
			back, missing := session.ResolveBlobs(out, sink)
			require.Zero(t, missing)
			require.Equal(t, `{"content":[{"type":"image","data":"`+std+`"}]}`, string(back))
		})
	}
}

func TestPrepareCountsAnImagesUnitsNotItsBytes(t *testing.T) {
	t.Parallel()
	escaped := strings.Repeat(`\/`, 1023)
	line := []byte(`{"content":[{"type":"image","data":"` + escaped + `"}]}`)
	out, err := session.Prepare(line, memoryBlobs{})
	require.NoError(t, err)
	require.True(t, sameMemory(line, out))
}

// Proves: X-132
func TestPrepareMovesLargeImagesAnywhere(t *testing.T) {
	t.Parallel()
	raw := pixels(375_000) // 500 000 units
	data := base64.StdEncoding.EncodeToString(raw)
	for name, format := range map[string]string{
		"a mentioned file":     `{"message":{"role":"fileMention","files":[{"path":"a.png","image":{"type":"image","data":"%s"}}]}}`,
		"a tool's pictures":    `{"message":{"details":{"images":[{"mimeType":"image/png","data":"%s"}]}}}`,
		"a command's pictures": `{"message":{"role":"bashExecution","images":[{"data":"%s","type":"image"}]}}`,
		"a generated image":    `{"items":[{"type":"image_generation_call","result":"%s"}]}`,
		"a content not listed": `{"content":{"mimeType":"image/webp","data":"%s"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line, sink := fmt.Sprintf(format, data), memoryBlobs{}
			out, err := session.Prepare([]byte(line), sink)
			require.NoError(t, err)
			equalText(t, fmt.Sprintf(format, blobRef(raw)), string(out))
			back, missing := session.ResolveBlobs(out, sink)
			require.Zero(t, missing)
			equalText(t, line, string(back))

			smaller := fmt.Sprintf(format, data[:maxChars-4])
			out, err = session.Prepare([]byte(smaller), memoryBlobs{})
			require.NoError(t, err)
			equalText(t, smaller, string(out))
		})
	}
}

// Proves: X-129
func TestPrepareMovesImageURLsOfAnySize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, url string }{
		{"a tiny image", `"data:image/png;base64,AA=="`, "data:image/png;base64,AA=="},
		{"parameters", `"data:image/svg+xml;charset=utf-8;base64,é😀"`, "data:image/svg+xml;charset=utf-8;base64,é😀"},
		{"escapes", `"\u0064ata:image\/png;base64,\ud83d\ude00"`, "data:image/png;base64,😀"},
		{"more than the longest text", `"data:image/png;base64,` + strings.Repeat("A", maxChars) + `"`, "data:image/png;base64," + strings.Repeat("A", maxChars)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sink := memoryBlobs{}
			out, err := session.Prepare([]byte(`{"a":[{"image_url":`+c.in+`}]}`), sink)
			require.NoError(t, err)
			require.Equal(t, `{"a":[{"image_url":"`+blobRef([]byte(c.url))+`"}]}`, string(out))
			back, missing := session.ResolveBlobs(out, sink)
			require.Zero(t, missing)
			url, _ := rawjson.GetString(back[len(`{"a":[`):len(back)-2], "image_url")
			equalText(t, c.url, url)
		})
	}
	for name, line := range map[string]string{
		"another key":                `{"url":"data:image/png;base64,AA=="}`,
		"another type":               `{"image_url":"data:text/plain;base64,AA=="}`,
		"another encoding":           `{"image_url":"data:image/svg+xml,%3Csvg"}`,
		"upper case":                 `{"image_url":"DATA:image/png;base64,AA=="}`,
		"a reference":                `{"image_url":"blob:sha256:` + strings.Repeat("a", 64) + `"}`,
		"an object":                  `{"image_url":{"url":"data:image/png;base64,AA=="}}`,
		"deeper than the reader is":  `{"a":` + strings.Repeat("[", 300) + `{"image_url":"data:image/png;base64,AA=="}` + strings.Repeat("]", 300) + `}`,
		"what has no UTF-8 form":     `{"image_url":"data:image/png;base64,\ud800"}`,
		"a list, as nobody resolves": `{"image_url":["data:image/png;base64,` + strings.Repeat("A", maxChars) + `"]}`,
	} {
		t.Run("but not "+name, func(t *testing.T) {
			t.Parallel()
			sink := memoryBlobs{}
			out, err := session.Prepare([]byte(line), sink)
			require.NoError(t, err)
			equalText(t, line, string(out))
			require.Empty(t, sink)
		})
	}
}

func TestPrepareKeepsAnImageThatCannotBeStored(t *testing.T) {
	t.Parallel()
	large := base64.StdEncoding.EncodeToString(pixels(600_000))
	image := `{"type":"image","data":"` + large + `"}`
	line := func(text string) string {
		return `{"content":[` + image + `,"` + text + `"],"images":[` + image + `],"image_url":"data:image/png;base64,` + large + `"}`
	}
	long := strings.Repeat("x", maxChars+1)
	disk := &fullDisk{}
	out, err := session.Prepare([]byte(line(long)), disk)
	require.ErrorIs(t, err, errFull)
	require.EqualError(t, err, "try 1: disk full", "the first failure is reported")
	equalText(t, line(long[:keptChars]+escapedNotice), string(out))
	require.Equal(t, 3, disk.tries)

	out, err = session.Prepare([]byte(line(long)), nil)
	require.NoError(t, err, "a session without a blob store keeps its images inline")
	equalText(t, line(long[:keptChars]+escapedNotice), string(out))
}

// Proves: X-127, F-19
func TestPrepareStoresTheSameImageOnce(t *testing.T) {
	t.Parallel()
	raw := pixels(3000)
	image := `{"type":"image","data":"` + base64.StdEncoding.EncodeToString(raw) + `"}`
	sink := memoryBlobs{}
	out, err := session.Prepare([]byte(`{"lineCount":3,"content":[`+image+`,`+image+`]}`), sink)
	require.NoError(t, err)
	require.Len(t, sink, 1)
	require.Equal(t, 2, bytes.Count(out, []byte(blobRef(raw))))
}

// TestPrepareEqualsOmpsOutput puts the images of omp's own file back into its lines
// and prepares them again.
func TestPrepareEqualsOmpsOutput(t *testing.T) {
	t.Parallel()
	blobs := session.BlobDir{Fs: kit.DiskFixtures(), Dir: filepath.Join(kit.Fixtures, "omp/agent/blobs")}
	file, err := os.ReadFile(filepath.Join(kit.Fixtures, "omp/images.jsonl"))
	require.NoError(t, err)
	equal := 0
	for line := range bytes.Lines(file) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		full, missing := session.ResolveBlobs(line, blobs)
		require.Zero(t, missing)
		sink := memoryBlobs{}
		out, err := session.Prepare(full, sink)
		require.NoError(t, err)
		back, missing := session.ResolveBlobs(out, sink)
		require.Zero(t, missing)
		require.Equal(t, string(full), string(back))
		for hash, data := range sink {
			stored, err := blobs.Blob(hash)
			require.NoError(t, err)
			require.Equal(t, stored, data)
		}
		require.Equal(t, string(rawjson.Get(line, "message", "content")), string(rawjson.Get(out, "message", "content")))
		require.Equal(t, string(rawjson.Get(line, "content")), string(rawjson.Get(out, "content")))
		if len(sink) > 0 && bytes.Equal(line, out) {
			equal++
		}
	}
	require.Equal(t, 2, equal, "lines whose images are all in content lists")
}
