package sessiondoc

import (
	"context"
	"time"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// Host is the part of the server that the documents use.
type Host struct {
	Work context.Context //nolint:containedctx // the lifetime of the server, from which all work descends

	Document func(path string) (textdoc.Document, bool) // returns an open document
	Encoding func() textdoc.Encoding                    // returns the client's encoding
	Files    func() Files                               // returns the files that may be read

	// Notify queues a notification to the client, in place of a waiting one with the same key.
	Notify func(method string, params any, key string)

	// Background runs f on a goroutine that a stopping server waits for, unless the server is busy.
	// It does not block.
	Background func(what string, f func(ctx context.Context))

	// Guard runs f and turns a panic into an error and a line in the log.
	Guard func(what string, f func() error) error

	// AfterFunc calls f on a goroutine after d, unless stop is called before.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

// Client is the client's capabilities, as far as they change the answers.
type Client struct {
	HierarchicalSymbols bool // textDocument.documentSymbol.hierarchicalDocumentSymbolSupport
	FoldingLimit        int  // textDocument.foldingRange.rangeLimit; 0: none
	MarkdownHover       bool // textDocument.hover.contentFormat has markdown
}
