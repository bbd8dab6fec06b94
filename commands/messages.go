package commands

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

var messages = New(Spec{
	Name: "xcsh.messages", Title: "Session Messages", Flags: ReadOnly, Arg: "query", Early: true,
	Doc: "Return a page of the messages of a session's conversation, or search them. The conversation is the context that xcsh.snapshot shows, or with history the whole conversation up to it. source may also be the address of a session that xcsh.team.follow shows.",
}, runMessages)

// MessagesArgs are the arguments of xcsh.messages.
type MessagesArgs struct {
	Subject
	Cursor   string `json:"cursor,omitempty" jsonschema:"A cursor of an earlier result, for the page before or after it."`
	Before   string `json:"before,omitempty" jsonschema:"Return the newest messages before that of this entry."`
	After    string `json:"after,omitempty" jsonschema:"Return the oldest messages after that of this entry."`
	Around   string `json:"around,omitempty" jsonschema:"Return the message of this entry and those around it."`
	Limit    *int   `json:"limit,omitempty" jsonschema:"The largest number of messages or hits, 1 to 500. Default: 100."`
	MaxBytes *int   `json:"maxBytes,omitempty" jsonschema:"The largest size of the messages in bytes, 1 to 4194304. A larger message comes alone. Default: 4194304."`
	History  bool   `json:"history,omitempty" jsonschema:"Include the messages before the context: those that compactions replaced by summaries, and earlier summaries. A cursor from such a page includes them, too. Default: false."`
	Query    string `json:"query,omitempty" jsonschema:"Search for this text, in either case, from the newest message or from cursor or before towards the oldest one. The result has hits instead of messages."`
}

// MessagesResult is a page of a conversation, or the hits of a search.
type MessagesResult struct {
	Messages []paging.Message `json:"messages" jsonschema:"Oldest first."`
	Hits     []paging.Hit     `json:"hits,omitempty" jsonschema:"With query: the messages with the text, newest first. Absent if there are none."`
	Older    *paging.More     `json:"older,omitempty" jsonschema:"The messages before this page, or those that the search has not reached; absent if there are none."`
	Newer    *paging.More     `json:"newer,omitempty" jsonschema:"The messages after this page; absent if there are none. Messages that are added after the first page are not counted: events announce them."`
	Total    int              `json:"total" jsonschema:"The number of messages of the conversation. It may be too large, like a count. 0 while the session is being read."`
	Pending  []string         `json:"pending,omitempty" jsonschema:"The fields that are 0 because the session is still being read: total. The number of older messages is then 0 too."`
}

// defaultMessages is the number of messages on a page without a limit, and maxQuery the length of a search text in bytes.
const (
	defaultMessages = 100
	maxQuery        = 1000
)

func (a MessagesArgs) check() error {
	if err := checkPage(a.Limit, a.MaxBytes, paging.MaxMessages); err != nil {
		return err
	}
	given := ""
	for _, arg := range []struct{ name, value string }{{"cursor", a.Cursor}, {"before", a.Before}, {"after", a.After}, {"around", a.Around}} {
		switch {
		case arg.value == "":
		case given != "":
			return fault.New(fault.InvalidArgument, "Pass only one of %q and %q.", given, arg.name).With("field", arg.name)
		case a.Query != "" && (arg.name == "after" || arg.name == "around"):
			return fault.New(fault.InvalidArgument, "%q cannot be combined with %q.", arg.name, "query").With("field", arg.name)
		default:
			given = arg.name
		}
	}
	switch {
	case a.Query != "" && strings.TrimSpace(a.Query) == "":
		return fault.New(fault.InvalidArgument, "\"query\" has no text to search for.").With("field", "query")
	case len(a.Query) > maxQuery:
		return fault.New(fault.InvalidArgument, "\"query\" may have at most %d bytes, not %d.", maxQuery, len(a.Query)).With("field", "query")
	}
	return nil
}

func runMessages(ctx context.Context, env *Env, a MessagesArgs) (r MessagesResult, err error) {
	if a.Source == "" {
		live, err := env.live(ctx, a.Folder)
		if err != nil {
			return r, err
		}
		if reading := live.Reading(); reading != nil && a.newest() {
			return a.early(reading), nil
		}
		if err := env.readWhole(ctx, live); err != nil {
			return r, err
		}
		a.Cwd = live.Cwd() // the user chose it
	}
	err = env.withReadable(ctx, a.Subject, func(sub subject) error {
		c, at, err := a.conversation(sub)
		if err != nil {
			return err
		}
		r, err = a.page(c, at)
		r.Total = c.Len()
		return err
	})
	return r, err
}

// withReadable is withSource for a command that also reads sessions of the team's store, by the address that xcsh.team.follow returned.
func (env *Env) withReadable(ctx context.Context, s Subject, f func(sub subject) error) error {
	if !strings.HasPrefix(s.Source, FollowScheme+":") {
		return env.withSource(ctx, s, f)
	}
	of, err := env.Follows.at(s.Source)
	if err == nil {
		err = waitForRoom(ctx)
	}
	if err != nil {
		return err
	}
	return of.view(f)
}

// newest reports whether a asks for the page of the newest messages.
func (a MessagesArgs) newest() bool {
	return a.Cursor+a.Before+a.After+a.Around+a.Query == ""
}

// early returns the newest messages of a session that is still being read.
func (a MessagesArgs) early(reading *agent.Reading) (r MessagesResult) {
	r.Messages, r.Older = reading.Newest(limits(a.Limit, a.MaxBytes, defaultMessages), a.History)
	if n, all := reading.Whole(a.History); all {
		r.Total = n
	} else {
		r.Pending = []string{"total"}
	}
	return r
}

// conversation returns the conversation to read, and the place that the cursor or the newest message marks.
func (a MessagesArgs) conversation(sub subject) (c *paging.Conversation, at paging.Cursor, err error) {
	if a.Cursor == "" {
		open := paging.Open
		if a.History {
			open = paging.OpenHistory
		}
		c, err = open(sub.doc, sub.leaf, sub.blobs())
		if err != nil {
			return nil, at, err
		}
		return c, paging.Cursor{Kind: paging.Older, Place: c.Len()}, nil
	}
	if paging.NamesEntry(a.Cursor) {
		kind := paging.Older
		if a.Query != "" {
			kind = paging.Search
		}
		return paging.OpenBefore(sub.doc, sub.leaf, sub.blobs(), a.Cursor, kind, a.History)
	}
	kinds := []paging.Kind{paging.Older, paging.Newer}
	if a.Query != "" {
		kinds = []paging.Kind{paging.Search}
	}
	return paging.Reopen(sub.doc, a.Cursor, sub.blobs(), kinds...)
}

func (a MessagesArgs) page(c *paging.Conversation, at paging.Cursor) (MessagesResult, error) {
	l := limits(a.Limit, a.MaxBytes, defaultMessages)
	var from, to int
	if id := a.Before + a.After + a.Around; id != "" { // at most one is given
		var err error
		if from, to, err = c.PlaceOf(id); err != nil {
			return MessagesResult{}, err
		}
	}
	if a.Before != "" {
		at.Place = from
	}
	if a.Query != "" {
		hits, reached, err := c.Search(at.Place, l.Items, a.Query)
		return MessagesResult{Messages: []paging.Message{}, Hits: hits, Older: c.Unsearched(reached)}, err
	}
	var part paging.Part
	var err error
	switch {
	case a.Around != "":
		part, err = c.Around(from, to, l)
	case a.After != "":
		part, err = c.From(to, l)
	case at.Kind == paging.Newer:
		part, err = c.From(at.Place, l)
	default:
		part, err = c.Before(at.Place, l)
	}
	return MessagesResult{Messages: part.Messages, Older: c.Older(part.From), Newer: c.Newer(part.To)}, err
}
