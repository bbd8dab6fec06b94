package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// blobPrefix begins a reference to bytes kept outside the session file. The 64 hex
// digits behind it are the SHA-256 of the bytes.
const blobPrefix = "blob:sha256:"

// maxBlobDepth is how deep in a message references are looked for. No program nests
// images deeper, and nesting depth comes from a file.
const maxBlobDepth = 200

// BlobSource supplies the bytes of content-addressed images.
type BlobSource interface {
	// Blob returns the bytes whose SHA-256 is hash (64 lower-case hex digits).
	Blob(hash string) ([]byte, error)
}

// BlobDir is the blob store of one agent directory: one file per hash.
type BlobDir struct {
	Fs  afero.Fs
	Dir string
}

// Blob reads and verifies one blob. A missing one is kind notFound, one whose bytes
// do not match its name is kind damaged.
func (b BlobDir) Blob(hash string) ([]byte, error) {
	path := filepath.Join(b.Dir, hash)
	data, err := afero.ReadFile(b.Fs, path)
	if err != nil {
		return nil, ioFault("read", path, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return nil, fault.New(fault.Damaged, "%s does not hold the bytes its name promises.", path).With("path", path)
	}
	return data, nil
}

// blobHash returns the hash a string value refers to.
func blobHash(v []byte) (hash string, ok bool) {
	s, ok := rawjson.String(v)
	if !ok {
		return "", false
	}
	hash, ok = strings.CutPrefix(s, blobPrefix)
	return hash, ok && len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}

// namesBlobs reports whether v holds what looks like a reference to a blob.
func namesBlobs(v []byte) bool { return bytes.Contains(v, []byte(blobPrefix)) }

// resolveBlobs replaces the references in the context's messages by what they refer
// to. What cannot be had keeps its reference, so that nothing is lost on disk.
func (b *contextBuilder) resolveBlobs(blobs BlobSource) {
	if blobs == nil {
		return
	}
	for i, m := range b.ctx.Messages {
		if !namesBlobs(m) {
			continue
		}
		entry := b.ctx.EntryIDs[i]
		b.ctx.Messages[i] = resolveBlobs(m, blobs, 0, func(hash string, err error) {
			p := problemAt(MissingBlob, 0, true, "Image %s of entry %s cannot be read: %v", hash[:12], entry, err)
			p.EntryID = entry
			b.problems = append(b.problems, p)
		})
	}
}

// resolveBlobs returns v with image references replaced. References are resolved
// wherever an image may stand.
//
// Differs: xcsh resolves them only in the content of messages.
func resolveBlobs(v []byte, blobs BlobSource, depth int, missing func(hash string, err error)) []byte {
	if depth > maxBlobDepth || !namesBlobs(v) {
		return v
	}
	switch rawjson.Kind(v) {
	case '[':
		var elems [][]byte
		rawjson.Elements(v, func(el []byte) bool {
			elems = append(elems, resolveBlobs(el, blobs, depth+1, missing))
			return true
		})
		return rawjson.Array(elems)
	case '{':
		return resolveObject(v, blobs, depth, missing)
	}
	return v
}

func resolveObject(v []byte, blobs BlobSource, depth int, missing func(hash string, err error)) []byte {
	var out rawjson.Object
	typ, _ := rawjson.GetString(v, "type")
	mime, _ := rawjson.GetString(v, "mimeType")
	rawjson.Members(v, func(key, val []byte) bool {
		name, _ := rawjson.String(key)
		if hash, ok := blobHash(val); ok && holdsImage(name, typ, mime) {
			data, err := blobs.Blob(hash)
			switch {
			case err != nil:
				missing(hash, err)
			case name == "image_url": // the blob is the text of a data: URL
				val = rawjson.Quote(string(data))
			default:
				val = rawjson.Quote(base64.StdEncoding.EncodeToString(data))
			}
		} else {
			val = resolveBlobs(val, blobs, depth+1, missing)
		}
		out.Raw(name, val)
		return true
	})
	return out.Bytes()
}

// holdsImage reports whether the member called name, of an object with that type and
// MIME type, is where an image's bytes stand. Text that merely looks like a reference
// stays as it is.
func holdsImage(name, typ, mime string) bool {
	switch name {
	case "image_url":
		return true
	case "result":
		return typ == "image_generation_call"
	case "data":
		return typ == "image" || strings.HasPrefix(mime, "image/")
	}
	return false
}
