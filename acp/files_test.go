package acp_test

import (
	"encoding/json"
	"maps"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// editor holds a client's files: buffers over the disk.
type editor struct {
	mu      sync.Mutex
	buffers map[string]string
	read    []string // paths, in order
	written []string
	refuse  bool // writing
}

func (e *editor) serve(c *client) {
	c.on("fs/read_text_file", func(raw json.RawMessage) (any, *wireError) {
		var p struct{ Path string }
		_ = json.Unmarshal(raw, &p)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.read = append(e.read, p.Path)
		if text, ok := e.buffers[p.Path]; ok {
			return object{"content": text}, nil
		}
		return nil, &wireError{Code: -32002, Message: "Resource not found"}
	})
	c.on("fs/write_text_file", func(raw json.RawMessage) (any, *wireError) {
		var p struct{ Path, Content string }
		_ = json.Unmarshal(raw, &p)
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.refuse {
			return nil, &wireError{Code: -32603, Message: "no"}
		}
		e.written = append(e.written, p.Path)
		e.buffers[p.Path] = p.Content
		return object{}, nil
	})
}

var bothFiles = object{"fs": object{"readTextFile": true, "writeTextFile": true}}

// Proves: ACP-04
func TestFilesOfTheClient(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		capabilities object
		disk, buffer map[string]string // by path
		refuse       bool
		call         providertest.Call
		wantDisk     map[string]string
		wantBuffer   map[string]string
		failed       bool
	}{
		"an unsaved buffer is edited": {
			capabilities: bothFiles, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "unsaved\n"}, call: edit("a", "unsaved", "edited"),
			wantDisk: map[string]string{"/w/a": "old\n"}, wantBuffer: map[string]string{"/w/a": "edited\n"},
		},
		"the file on disk is not edited": {
			capabilities: bothFiles, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "unsaved\n"}, call: edit("a", "old", "edited"),
			wantDisk: map[string]string{"/w/a": "old\n"}, wantBuffer: map[string]string{"/w/a": "unsaved\n"}, failed: true,
		},
		"a client without files": {
			capabilities: object{}, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "unsaved\n"}, call: edit("a", "old", "edited"),
			wantDisk: map[string]string{"/w/a": "edited\n"}, wantBuffer: map[string]string{"/w/a": "unsaved\n"},
		},
		"a client that only reads": {
			capabilities: object{"fs": object{"readTextFile": true}}, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "old\n"}, call: edit("a", "old", "edited"),
			wantDisk: map[string]string{"/w/a": "edited\n"}, wantBuffer: map[string]string{"/w/a": "old\n"},
		},
		"unsaved changes that cannot be kept are not overwritten": {
			capabilities: object{"fs": object{"readTextFile": true}}, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "unsaved\n"}, call: edit("a", "unsaved", "edited"),
			wantDisk: map[string]string{"/w/a": "old\n"}, wantBuffer: map[string]string{"/w/a": "unsaved\n"}, failed: true,
		},
		"a file that the client does not have": {
			capabilities: bothFiles, disk: map[string]string{"/w/a": "old\n"}, call: edit("a", "old", "edited"), wantDisk: map[string]string{"/w/a": "edited\n"},
		},
		"line ends of the disk stay": {
			capabilities: bothFiles, disk: map[string]string{"/w/a": "one\r\ntwo\r\n"}, buffer: map[string]string{"/w/a": "one\ntwo"}, call: edit("a", "two", "TWO"),
			wantDisk: map[string]string{"/w/a": "one\r\ntwo\r\n"}, wantBuffer: map[string]string{"/w/a": "one\r\nTWO\r\n"},
		},
		"a new file is made by the client": {
			capabilities: bothFiles, call: providertest.Call{Name: "write", Args: object{"path": "new", "content": "new\n"}}, wantBuffer: map[string]string{"/w/new": "new\n"},
		},
		"a new file that the client does not make": {
			capabilities: bothFiles, refuse: true, call: providertest.Call{Name: "write", Args: object{"path": "d/new", "content": "new\n"}},
			wantDisk: map[string]string{"/w/d/new": "new\n"},
		},
		"a client that gives nothing for nothing": {
			capabilities: bothFiles, buffer: map[string]string{"/w/new": ""}, call: edit("new", "x", "y"), wantBuffer: map[string]string{"/w/new": ""}, failed: true,
		},
		"a client that does not write": {
			capabilities: bothFiles, refuse: true, disk: map[string]string{"/w/a": "old\n"}, buffer: map[string]string{"/w/a": "unsaved\n"}, call: edit("a", "unsaved", "edited"),
			wantDisk: map[string]string{"/w/a": "old\n"}, wantBuffer: map[string]string{"/w/a": "unsaved\n"}, failed: true,
		},
		"a new file outside the folder is the disk's": {
			capabilities: bothFiles, disk: map[string]string{"/v/x": ""}, call: providertest.Call{Name: "write", Args: object{"path": "/v/new", "content": "new\n"}},
			wantDisk: map[string]string{"/v/new": "new\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for path, content := range tc.disk {
				w.file(t, path, content)
			}
			e := &editor{buffers: map[string]string{}, refuse: tc.refuse}
			maps.Copy(e.buffers, tc.buffer)
			w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{tc.call}}, providertest.Reply{Text: "Well."})
			c := w.connect(t, tc.capabilities)
			e.serve(c)
			choose(c, "once")
			id := c.open()
			require.Equal(t, "end_turn", c.prompt(id, "do it"))
			for path, want := range tc.wantDisk {
				assert.Equal(t, want, w.read(t, path))
			}
			for path, want := range tc.wantBuffer {
				assert.Equal(t, want, e.buffers[path])
			}
			end := c.awaitUpdate(id, "the end of the call", func(u update) bool { return u.Status == "completed" || u.Status == "failed" })
			assert.Equal(t, tc.failed, end.Status == "failed", string(end.Content))
		})
	}
}

// Clients report failing reads to the user, so creating a file causes none.
func TestNewFilesAreNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	create := providertest.Call{Name: "write", Args: object{"path": "d/new", "content": "new\n"}}
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{create}}, providertest.Reply{Text: "Well."})
	c := w.connect(t, bothFiles)
	e := &editor{buffers: map[string]string{}}
	e.serve(c)
	choose(c, "once")
	require.Equal(t, "end_turn", c.prompt(c.open(), "create"))
	require.Equal(t, "new\n", e.buffers["/w/d/new"])
	require.Empty(t, e.read)
}

// A file that another program creates during the approval is not overwritten.
func TestAFileThatAppearsDuringAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	create := providertest.Call{Name: "write", Args: object{"path": "new", "content": "new\n"}}
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{create}}, providertest.Reply{Text: "Well."})
	c := w.connect(t, bothFiles)
	e := &editor{buffers: map[string]string{}}
	e.serve(c)
	c.on("session/request_permission", func(json.RawMessage) (any, *wireError) {
		w.file(t, "/w/new", "theirs\n")
		return object{"outcome": object{"outcome": "selected", "optionId": "once"}}, nil
	})
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "create"))
	c.awaitUpdate(id, "the call failed", func(u update) bool { return u.Status == "failed" })
	require.Equal(t, "theirs\n", w.read(t, "/w/new"))
	require.Empty(t, e.written)
}

func TestBinaryFilesAreNotAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a.bin", "a\x00b")
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "read", Args: object{"path": "a.bin"}}}}, providertest.Reply{Text: "Well."})
	c := w.connect(t, bothFiles)
	e := &editor{buffers: map[string]string{}}
	e.serve(c)
	require.Equal(t, "end_turn", c.prompt(c.open(), "read"))
	require.Empty(t, e.read)
}

func TestBufferThatChangesDuringAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a", "old\n")
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{edit("a", "one", "two")}}, providertest.Reply{Text: "Well."})
	c := w.connect(t, bothFiles)
	e := &editor{buffers: map[string]string{"/w/a": "one\n"}}
	e.serve(c)
	c.on("session/request_permission", func(json.RawMessage) (any, *wireError) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.buffers["/w/a"] = "one\nand typed\n"
		return object{"outcome": object{"outcome": "selected", "optionId": "once"}}, nil
	})
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "edit"))
	require.Equal(t, "one\nand typed\n", e.buffers["/w/a"])
	require.Empty(t, e.written)
	c.awaitUpdate(id, "the call failed", func(u update) bool { return u.Status == "failed" })
}
