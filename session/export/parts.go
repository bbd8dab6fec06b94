package export

import "html/template"

// headView is what the template needs before the first entry.
type headView struct {
	Title, Policy string
	Style         template.CSS
	Facts         []fact
}

func (p *page) head() error {
	h := parseObject(p.doc.Header)
	title := preview(or(p.doc.Title, h.str("title"), p.doc.FileName, h.str("id"), "Session"), 200)
	return p.render("head", headView{
		Title:  or(title, "Session"),
		Policy: policy,
		Style:  template.CSS(style), //nolint:gosec // G203: it is this package's own file
		Facts:  p.facts(),
	})
}

// toolView is a tool as the page shows it.
type toolView struct{ Name, Description, Parameters string }

// about writes the system prompt and the tools, both folded.
func (p *page) about() error {
	var tools []toolView
	for _, t := range p.doc.Tools {
		tools = append(tools, toolView{clean(t.Name), clean(t.Description), clean(indented(t.Parameters))})
	}
	return p.render("about", struct {
		SystemPrompt string
		Tools        []toolView
	}{clean(p.doc.SystemPrompt), tools})
}

// conversation writes every entry of the active path.
func (p *page) conversation() error {
	n := 0
	err := p.eachOnPath(func(e *entry) error {
		n++
		return p.render("item", itemOf(e))
	})
	if err != nil {
		return err
	}
	return p.render("conversation-end", n)
}

// branchView is an entry off the active path: enough to recognise it.
type branchView struct {
	Anchor, ID, Kind, Title, Label, Text string
	Time                                 moment
}

// otherBranches lists the entries that are not on the active path.
func (p *page) otherBranches() error {
	if p.total.OffPath == 0 {
		return nil
	}
	if err := p.render("branches-start", p.total.OffPath); err != nil {
		return err
	}
	err := p.each(func(e *entry) error {
		if e.onPath {
			return nil
		}
		it := itemOf(e)
		return p.render("branch", branchView{
			Anchor: it.Anchor, ID: it.ID, Kind: it.Kind, Title: it.Title, Label: it.Label,
			Text: preview(e.text(), 200), Time: it.Time,
		})
	})
	if err != nil {
		return err
	}
	return p.render("branches-end", nil)
}

func (p *page) foot() error {
	return p.render("foot", struct{ AppName, GeneratedAt string }{
		clean(p.options.AppName), clean(p.options.GeneratedAt),
	})
}

func (p *page) end() error { return p.render("end", nil) }
