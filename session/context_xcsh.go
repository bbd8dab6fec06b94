package session

import "github.com/xcsh-ls/xcsh-ls/session/rawjson"

// emitXcsh emits the messages as xcsh does: everything on the path or, with a
// compaction, its summary, the kept entries before it and all after it.
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

// remoteHistory is the provider's own replacement for the compacted history, as the
// payload that is sent back to it; nil when the compaction carries none.
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

// withoutReplay takes out of an answer what a provider wanted to see again in the same
// run only: its own history and the signatures of what it thought. They are stale by
// the time a file is read. payload is what the answer has for it.
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
