package acp

import (
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// maxName bounds the name of a session without a title, in UTF-16 units.
const maxName = 80

// named returns the session's name if it changed: its title, or else the beginning of the first prompt.
func (c *conversation) named() (u infoUpdate, news bool) {
	c.naming.Lock()
	defer c.naming.Unlock()
	name, err := c.name()
	if err != nil {
		c.log.Warn("the name of a session cannot be read", zap.String("session", c.id), zap.Error(err))
	}
	if err != nil || name == "" || name == c.title {
		return u, false
	}
	c.title = name
	return infoUpdate{Kind: updateInfo, Title: visible.Line(name)}, true
}

func (c *conversation) sendName() {
	if name, news := c.named(); news {
		c.s.conn.update(c.id, name)
	}
}

func (c *conversation) name() (name string, err error) {
	err = c.live.View(func(d *session.Document, leaf session.Leaf) error {
		if name = d.Title().Text; name != "" {
			return nil
		}
		for _, i := range d.PathTo(leaf) {
			if d.Role(i) != "user" {
				continue
			}
			e, err := d.Brief(i)
			if err != nil {
				return err
			}
			name = firstLine(attached.Words(session.MessageText(e.Message())))
			return nil
		}
		return nil
	})
	return name, err
}

func firstLine(text string) string { return rawjson.UTF16Prefix(short(text), maxName) }

// used returns the use of the model's context window, if it is known.
func (c *conversation) used(ctx context.Context) (u usageUpdate, known bool) {
	snapshot, err := c.live.Snapshot(ctx)
	if err != nil {
		c.log.Debug("the usage of a session cannot be read", zap.String("session", c.id), zap.Error(err))
		return u, false
	}
	return c.shown.filled(snapshot.Context.Tokens, snapshot.Context.ContextWindow)
}

func (c *conversation) sendUsage(ctx context.Context) {
	if usage, known := c.used(ctx); known {
		c.s.conn.update(c.id, usage)
	}
}
