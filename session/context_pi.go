package session

import "github.com/xcsh-ls/xcsh-ls/internal/rawjson"

// emitPi emits the messages as pi does. In addition to xcsh's rules there are system
// messages, which a compaction replaces with its checkpoint, and context edits, which
// change or hide the message of an earlier entry.
func (b *contextBuilder) emitPi(path []int) error {
	selected, err := b.selectPi(path)
	if err != nil {
		return err
	}
	edits, err := b.contextEdits(selected)
	if err != nil {
		return err
	}
	return b.emitEntries(selected, func(e Entry) []byte {
		edit, edited := edits[e.ID]
		if edited && edit.Content == nil {
			return nil
		}
		m := piMessage(e)
		if edited && m != nil {
			m = replaceContent(m, edit.Content)
		}
		return m
	})
}

// selectPi emits the compaction summary, if any, and returns the entries whose own messages
// are still shown.
func (b *contextBuilder) selectPi(path []int) ([]int, error) {
	if b.compaction < 0 {
		return path, nil
	}
	e, err := b.doc.Entry(path[b.compaction])
	if err != nil {
		return nil, err
	}
	c := e.AsCompaction()
	if system := rawjson.Get(e.Raw, "systemMessage"); rawjson.Kind(system) == '{' {
		b.emit(e.ID, "", system)
	}
	b.emit(e.ID, "", new(rawjson.Object).String("role", "compactionSummary").
		Raw("summary", rawjson.Get(e.Raw, "summary")).Raw("tokensBefore", c.TokensBefore).
		Raw("timestamp", millis(e)).Bytes())
	var selected []int
	for _, i := range b.kept(path, c.FirstKeptEntryID, e) {
		if b.doc.tree.role(i) != "system" {
			selected = append(selected, i)
		}
	}
	return append(selected, path[b.compaction+1:]...), nil
}

func (b *contextBuilder) contextEdits(path []int) (map[string]contextEdit, error) {
	edits := map[string]contextEdit{}
	for _, i := range path {
		if b.doc.tree.typ(i) != typeContextEdit {
			continue
		}
		e, err := b.doc.Entry(i)
		if err != nil {
			return nil, err
		}
		edit := e.asContextEdit()
		edits[edit.TargetID] = edit
	}
	return edits, nil
}

var contentName = []string{"content"}

func piMessage(e Entry) []byte {
	switch e.Type {
	case TypeMessage:
		var content [1][]byte
		m := e.messageWith(contentName, content[:])
		return withContent(m, content[0])
	case TypeCustomMessage:
		content := rawjson.Get(e.Raw, "content")
		if k := rawjson.Kind(content); k == 0 || k == 'n' {
			content = []byte("[]")
		}
		return new(rawjson.Object).String("role", "custom").
			Raw("customType", rawjson.Get(e.Raw, "customType")).Raw("content", content).
			Raw("display", rawjson.Get(e.Raw, "display")).Raw("details", rawjson.Get(e.Raw, "details")).
			Raw("timestamp", millis(e)).Bytes()
	case TypeBranchSummary:
		return branchSummaryMessage(e)
	}
	return nil
}

// withContent adds empty content to a message whose content is missing or null, if its role
// requires content.
func withContent(m, content []byte) []byte {
	if k := rawjson.Kind(content); m == nil || k != 0 && k != 'n' {
		return m
	}
	switch role, _ := rawjson.GetString(m, "role"); role {
	case "user", "assistant", "toolResult":
		return rawjson.Set(m, "content", []byte("[]"))
	case "system":
		return rawjson.Set(m, "content", []byte(`""`))
	}
	return m
}

// replaceContent replaces the content of a message with that of an edit.
func replaceContent(m, content []byte) []byte {
	role, _ := rawjson.GetString(m, "role")
	switch role {
	case "user", "custom":
	case "assistant", "toolResult":
		if rawjson.Kind(content) == '"' {
			block := new(rawjson.Object).String("type", "text").Raw("text", content).Bytes()
			content = rawjson.Array([][]byte{block})
		}
	default:
		return m
	}
	return rawjson.Set(m, "content", content)
}
