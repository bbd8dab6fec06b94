package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// BlobPrefix begins a reference to bytes kept outside the session file. The 64 hex digits
// after it are the SHA-256 of the bytes.
const BlobPrefix = "blob:sha256:"

// maxBlobDepth limits how deep in a message references are resolved. No program nests
// images deeper, and a file controls its own nesting depth.
const maxBlobDepth = 200

// maxBlob limits the size of a blob, in bytes. A session file from another machine may
// reference any blob.
const maxBlob = 256 << 20

// BlobSource supplies the bytes of content-addressed images.
type BlobSource interface {
	// Blob returns the bytes whose SHA-256 is hash (64 lower-case hex digits).
	Blob(hash string) ([]byte, error)
}

// blobDir is the blob store of one agent directory: one file per hash.
type blobDir struct {
	Fs  afero.Fs
	Dir string
}

// Blob reads and verifies one blob. It returns a NotFound error if the blob is missing, and
// a Damaged error if its bytes do not match its name.
func (b blobDir) Blob(hash string) ([]byte, error) {
	path := filepath.Join(b.Dir, hash)
	data, err := intake.ReadAll(b.Fs, path, maxBlob)
	if err != nil {
		return nil, disk.Fault("read", path, err)
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
	hash, ok = strings.CutPrefix(s, BlobPrefix)
	return hash, ok && len(hash) == 64 && strings.Trim(hash, "0123456789abcdef") == ""
}

// namesBlobs reports whether v contains the prefix of a blob reference.
func namesBlobs(v []byte) bool { return bytes.Contains(v, []byte(BlobPrefix)) }

// resolveBlobs replaces the blob references in the context's messages with the blobs'
// contents. A reference whose blob is not available stays, so that nothing is lost on disk.
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
			b.problems = append(b.problems, blobProblem(entry, hash, err))
		})
	}
}

// blobProblem is the problem of an image of an entry that cannot be read.
func blobProblem(entry, hash string, err error) Problem {
	p := problemAt(missingBlob, 0, true, "Image %s of entry %s cannot be read: %v", hash[:12], entry, err)
	p.EntryID = entry
	return p
}

// resolveBlobs returns v with its image references replaced, wherever an image can be.
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

// holdsImage reports whether the member called name, of an object with that type and MIME
// type, holds an image's bytes. Text that merely looks like a reference is not changed.
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
