package session

import "github.com/xcsh-ls/xcsh-ls/internal/rawjson"

// emitXcsh emits the messages as xcsh does: all on the path or, with a compaction, its
// summary, the kept entries before it and all entries after it.
func (b *contextBuilder) emitXcsh(path []int) error {
	if b.compaction < 0 {
		return b.emitEntries(path, xcshMessage)
	}
	e, err := b.doc.Entry(path[b.compaction])
	if err != nil {
		return err
	}
	c := e.AsCompaction()
	payload := remoteHistory(c)
	b.emit(e.ID, "", new(rawjson.Object).String("role", "compactionSummary").
		Raw("summary", rawjson.Get(e.Raw, "summary")).Raw("shortSummary", rawjson.Get(e.Raw, "shortSummary")).
		Raw("tokensBefore", c.TokensBefore).Raw("providerPayload", payload).
		Raw("timestamp", millis(e)).Bytes())
	if payload == nil {
		if err := b.emitEntries(b.kept(path, c.FirstKeptEntryID, e), xcshMessage); err != nil {
			return err
		}
	}
	return b.emitEntries(path[b.compaction+1:], xcshMessage)
}

var payloadName = []string{"providerPayload"}

func xcshMessage(e Entry) []byte {
	switch e.Type {
	case TypeMessage:
		var payload [1][]byte
		m := e.messageWith(payloadName, payload[:])
		return withoutReplay(m, payload[0])
	case TypeCustomMessage:
		return new(rawjson.Object).String("role", "custom").
			Raw("customType", rawjson.Get(e.Raw, "customType")).Raw("content", rawjson.Get(e.Raw, "content")).
			Raw("display", rawjson.Get(e.Raw, "display")).Raw("details", rawjson.Get(e.Raw, "details")).
			Raw("attribution", rawjson.Get(e.Raw, "attribution")).Raw("timestamp", millis(e)).Bytes()
	case TypeBranchSummary:
		return branchSummaryMessage(e)
	}
	return nil
}

// remoteHistory returns the provider's own replacement for the compacted history, as the
// payload to send back to it; nil if the compaction has none.
func remoteHistory(c Compaction) []byte {
	remote := rawjson.Get(c.PreserveData, "openaiRemoteCompaction")
	provider, _ := rawjson.GetString(remote, "provider")
	items := rawjson.Get(remote, "replacementHistory")
	if provider == "" || rawjson.Kind(items) != '[' {
		return nil
	}
	return new(rawjson.Object).String("type", "openaiResponsesHistory").
		String("provider", provider).Raw("items", items).Bytes()
}

// withoutReplay removes from an answer the data that a provider accepts again only within
// the same run: its own history and the signatures of its thinking. They are stale when a
// file is read. payload is the provider payload of the answer.
func withoutReplay(m, payload []byte) []byte {
	if kind, _ := rawjson.GetString(payload, "type"); kind != "openaiResponsesHistory" {
		return m
	}
	if role, _ := rawjson.GetString(m, "role"); role != "assistant" {
		return m
	}
	var blocks [][]byte
	rawjson.Elements(rawjson.Get(m, "content"), func(block []byte) bool {
		blocks = append(blocks, rawjson.Delete(block, "thinkingSignature"))
		return true
	})
	m = rawjson.Delete(m, "providerPayload")
	if blocks == nil {
		return m
	}
	return rawjson.Set(m, "content", rawjson.Array(blocks))
}
