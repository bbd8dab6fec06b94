package hosting

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// recorded is a session file that we write from the reports of a foreign engine.
type recorded struct {
	log    *session.Log
	name   string
	cwd    string
	onDisk func()
}

func (r *recorded) exists() bool      { return false }
func (r *recorded) leaf(string) error { return nil }
func (r *recorded) catch() error      { return nil }
func (r *recorded) strangers() bool   { return false }
func (r *recorded) back(bool) error   { return r.log.Flush() }

// engineEntry is the type of the custom entry that names the engine of a session and its own record there.
const engineEntry = "xcsh-ls/engine"

// opened records the session of the engine, if it is another one than before.
func (r *recorded) opened(o engine.Opened) error {
	if o.Session == "" || r.known() == o.Session {
		return nil
	}
	data := new(rawjson.Object).String("name", r.name).String("version", o.Version).String("sessionId", o.Session).String("cwd", r.cwd).
		String("session", r.log.Header().ID).Bytes()
	_, err := r.log.Append(session.DraftCustom(engineEntry, data))
	return err
}

// known returns the id of the engine's own record of this conversation, "" for none. The entry in a copy of a session names the
// record of the original: if both continued it, the engine would mix two conversations.
func (r *recorded) known() (id string) {
	own := r.log.Header().ID
	_ = r.log.View(func(d *session.Document, leaf session.Leaf) error {
		for i, typ := range d.Recent(leaf) {
			if typ != session.TypeCustom {
				continue
			}
			e, err := d.Entry(i)
			if err != nil {
				return err
			}
			kind, _ := rawjson.GetString(e.Raw, "customType")
			name, _ := rawjson.GetString(e.Raw, "data", "name")
			if kind != engineEntry || name != r.name {
				continue
			}
			if of, _ := rawjson.GetString(e.Raw, "data", "session"); of == own {
				id, _ = rawjson.GetString(e.Raw, "data", "sessionId")
			}
			return nil
		}
		return nil
	})
	return id
}

// talked reports whether there are messages before the leaf.
func (r *recorded) talked() (talked bool) {
	_ = r.log.View(func(d *session.Document, leaf session.Leaf) error {
		for _, typ := range d.Recent(leaf) {
			if talked = typ == session.TypeMessage; talked {
				break
			}
		}
		return nil
	})
	return talked
}

func (r *recorded) title(text string) error {
	_, err := r.log.SetTitle(session.Title{Text: text, Source: "auto"})
	return err
}

// message appends a message.
func (r *recorded) message(_ context.Context, m json.RawMessage) (string, error) {
	was := r.log.OnDisk()
	id, err := r.log.Append(session.DraftMessage(m))
	if role, _ := rawjson.GetString(m, "role"); err == nil && role == "user" {
		err = r.log.EnsureOnDisk()
	}
	if !was && r.log.OnDisk() {
		r.onDisk()
	}
	return id, err
}
